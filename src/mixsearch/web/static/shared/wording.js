// Verdicts in words.

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

