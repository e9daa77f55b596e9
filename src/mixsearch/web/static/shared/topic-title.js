// The title of a topic: its first words.

const WORDS_OF_TITLE = 3;

export function titleOf(words) {
  return mainWords(words.map((each) => each.word ?? each), WORDS_OF_TITLE).join(", ");
}

/**
 * Return the first words that say something: none is a part of another.
 *
 * Of "translation", "machine translation" and "machine", the phrase says all.
 * @param {string[]} words
 * @returns {string[]}
 */
export function mainWords(words, n = words.length) {
  /** @type {string[]} */
  let chosen = [];
  for (const word of words) {
    if (chosen.length === n) break;
    if (chosen.some((phrase) => hasWord(phrase, word))) continue;
    chosen = [...chosen.filter((each) => !hasWord(word, each)), word];
  }
  return chosen;
}

function hasWord(phrase, word) {
  return ` ${phrase} `.includes(` ${word} `);
}
