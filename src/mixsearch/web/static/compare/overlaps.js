// The overlap of topics: the sum over words of the smaller probability.

import { h } from "../shared/dom.js";
import { roughly } from "../shared/numbers.js";

// A wide table scrolls, also by keyboard.
const SCROLL_AREA = { class: "table-room", tabindex: "0", role: "group", "aria-label": "Shared words of all pairs" };

/** Create a table of all pairs, and sentences about the nearest and the farthest. */
export function overlapSection(answers, overlaps) {
  const names = distinct(answers);
  const pairs = pairsOf(names, overlaps);
  const [nearest, farthest] = [pairs[0], pairs.at(-1)];
  return h(
    "section",
    { class: "overlaps", "aria-labelledby": "overlaps-title" },
    h("h2", { id: "overlaps-title" }, "What they have in common"),
    h("p", { id: "nearest" }, describe(nearest), pairs.length > 1 ? [" ", describe(farthest)] : null),
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
  return [h("b", {}, one), " and ", h("b", {}, other), ` share ${roughly(share)} of their words.`];
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
