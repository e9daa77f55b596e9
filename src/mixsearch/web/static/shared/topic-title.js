// The title of a topic: its first words.

const WORDS_OF_TITLE = 3;

export function titleOf(words) {
  return words.slice(0, WORDS_OF_TITLE).map((each) => each.word ?? each).join(", ");
}
