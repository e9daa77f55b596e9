// How far a hint singled out a topic, in plain words.

import { times } from "./numbers.js";

const CLOSE = 1.1; // below this lead the search itself warns

/** The tone of a verdict: good, doubt or bad. */
export function toneOf({ separation, is_doubtful: isDoubtful, alternative = 0 }) {
  if (alternative > 0) return "doubt";
  if (separation !== null && separation < CLOSE) return "bad";
  return isDoubtful ? "doubt" : "good";
}

export function badgeOf(answer) {
  return answer.alternative > 0 ? "another reading" : answer.verdict.split(":")[0];
}

/** What the verdict means, and what to do about it. */
export function explain({ separation, is_doubtful: isDoubtful }) {
  if (separation === null) return "The search leads to this topic and to no other.";
  const lead =
    separation < CLOSE
      ? "The next best topic answers about as well."
      : `The search leads here ${times(separation).slice(0, -1)} times as strongly as to the next best topic.`;
  return isDoubtful ? `${lead} Add a word that says which one you mean, or look at the other readings.` : lead;
}
