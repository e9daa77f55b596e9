// Verdicts: the server sends codes, the page has a text and a tone for each.

import { times } from "./numbers.js";

/** @type {Record<string, string>} */
const BADGES = {
  clear: "clearly singled out",
  distinct: "singled out",
  close: "singled out, but the runner-up is close",
  ambiguous: "hardly singled out",
  behind: "not singled out",
};
const BAD = ["ambiguous", "behind"];

/** Return the tone of a verdict: good, doubt or bad. */
export function toneOf({ verdict_code: code, is_doubtful: isDoubtful = false, alternative = 0 }) {
  if (alternative > 0) return "doubt";
  if (BAD.includes(code)) return "bad";
  return isDoubtful || code === "close" ? "doubt" : "good";
}

export function badgeOf({ verdict_code: code, alternative = 0 }) {
  return alternative > 0 ? "another reading" : BADGES[code];
}

/** Explain a verdict and what to do about it. */
export function explain({ separation, verdict_code: code, is_doubtful: isDoubtful }) {
  if (separation === null) return "The search leads to this topic and to no other.";
  const lead = BAD.includes(code)
    ? "The next best topic answers about as well."
    : `The search leads here ${times(separation).slice(0, -1)} times as strongly as to the next best topic.`;
  return isDoubtful ? `${lead} Add a word that says which one you mean, or look at the other readings.` : lead;
}
