// Titles and verdicts in words.

import { chance, times } from "./numbers.js";

const WORDS_OF_TITLE = 3;
/** @type {Record<string, string>} */
const BADGES = {
  clear: "clear match",
  distinct: "good match",
  close: "match, but the runner-up is close",
  ambiguous: "weak match",
  behind: "no match",
  sure: "sure",
  partial: "partly in doubt",
  unsure: "in doubt",
};
/** @type {Record<string, string>} */
const BADGES_BY_CONFIDENCE = {
  clear: "clearly about it",
  likely: "probably about it",
  doubtful: "perhaps about something else",
  unclear: "no clear topic",
};
const BAD = ["ambiguous", "behind", "unclear", "unsure"];
const DOUBTFUL = ["close", "doubtful", "partial"];

/** Return the title of a topic: its first words. */
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

/** Return the tone of a verdict: good, doubt or bad. */
export function toneOf({ verdict_code: code, is_doubtful: isDoubtful = false, alternative = 0 }) {
  if (alternative > 0) return "doubt";
  if (BAD.includes(code)) return "bad";
  return isDoubtful || DOUBTFUL.includes(code) ? "doubt" : "good";
}

export function badgeOf({ verdict_code: code, confidence = null, alternative = 0 }) {
  if (alternative > 0) return "another meaning";
  return confidence === null ? BADGES[code] : BADGES_BY_CONFIDENCE[code];
}

/** Explain a verdict and what to do about it. */
export function explain({ separation, confidence = null, verdict_code: code, is_doubtful: isDoubtful }) {
  const advice = "Add a word to say which one you mean, or try another meaning.";
  if (confidence !== null) {
    const sure = `The probability that this topic is what you searched for is ${chance(confidence)}.`;
    return isDoubtful ? `${sure} ${advice}` : sure;
  }
  if (separation === null) return "Your search matches this topic and no other.";
  const lead = BAD.includes(code)
    ? "The next best topic matches about as well."
    : `Your search matches this topic ${times(separation).slice(0, -1)} times as strongly as the next best one.`;
  return isDoubtful ? `${lead} ${advice}` : lead;
}
