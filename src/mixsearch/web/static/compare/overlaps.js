// The overlap of topics: the sum over words of the smaller probability, beyond what the corpus has.

import { h } from "../shared/dom.js";
import { roughly } from "../shared/numbers.js";

// A wide table scrolls, also by keyboard.
const SCROLL_AREA = { class: "table-room", tabindex: "0", role: "group", "aria-label": "Shared words of all pairs" };

/** Create a table of all pairs, and sentences about the nearest and the farthest; plain overlaps count all words. */
export function overlapSection(answers, overlaps, plain) {
  const names = distinct(answers);
  const pairs = pairsOf(names, overlaps);
  const [nearest, farthest] = [pairs[0], pairs.at(-1)];
  return h(
    "section",
    { class: "overlaps", "aria-labelledby": "overlaps-title" },
    h("h2", { id: "overlaps-title" }, "What they have in common"),
    h("p", { id: "nearest" }, describe(nearest), pairs.length > 1 ? [" ", describe(farthest)] : null),
    h("p", { class: "small muted" }, "Counted are words that are more frequent in a topic than in the corpus: the words of the language, which all topics share, are taken off.", pairs.length === 1 ? ` With them, it is ${roughly(plain[0].find((share, i) => i > 0 && share !== null) ?? 0)}.` : null),
    names.length > 2 ? h("div", SCROLL_AREA, table(names, overlaps)) : null,
  );
}

function pairsOf(names, overlaps) {
  return names
    .flatMap((one, i) => names.slice(i + 1).map((other, j) => ({ one, other, share: overlaps[i][i + 1 + j] })))
    .filter(({ share }) => share !== null)
    .sort((a, b) => b.share - a.share);
}

function describe({ one, other, share }) {
  return [h("b", {}, one), " and ", h("b", {}, other), ` share ${roughly(share)} of their own words.`];
}

function table(names, overlaps) {
  const cell = (share, i, j) => {
    if (share === null || i === j) return h("td", { class: "same" }, share === null ? "no topic" : "");
    return h("td", { class: "number", style: { "--part": `${Math.round(100 * share)}%` } }, roughly(share));
  };
  const row = (name, i) =>
    h("tr", {}, h("th", { scope: "row" }, name), overlaps[i].map((share, j) => cell(share, i, j)));
  return h(
    "table",
    {},
    h("thead", {}, h("tr", {}, h("td", {}), names.map((name) => h("th", { scope: "col" }, name)))),
    h("tbody", {}, names.map(row)),
  );
}

/** Return the hints as unique names. */
function distinct(answers) {
  const name = ({ hint, alternative }) => (alternative > 0 ? `${hint}, reading ${alternative + 1}` : hint);
  const names = answers.map(name);
  return names.map((each, i) => {
    const before = names.slice(0, i).filter((other) => other === each).length;
    return before > 0 ? `${each} (${before + 1})` : each;
  });
}
