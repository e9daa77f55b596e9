// Words and topics as one table: the probability of every word in every topic, on one scale.

import { h } from "../shared/dom.js";
import { percent } from "../shared/numbers.js";

const WORDS_PER_TOPIC = 10;
const N_COLORS = 8;
// A wide table scrolls, also by keyboard.
const SCROLL_AREA = { class: "table-room", tabindex: "0", role: "group", "aria-label": "Words and topics" };

/**
 * Create the table.
 * @param {any[]} answers topics, or errors
 * @param {{word: string, probabilities: (number | null)[]}[]} words
 * @param {HTMLElement[]} heads
 */
export function wordMatrix(answers, words, heads) {
  const shown = choose(answers, words);
  const full = Math.max(...shown.flatMap(({ probabilities }) => probabilities.map((each) => each ?? 0)), 1e-12);
  return h(
    "div",
    SCROLL_AREA,
    h(
      "table",
      { id: "word-matrix" },
      h("caption", { class: "visually-hidden" }, "The share of each word in each topic"),
      h("thead", {}, h("tr", {}, h("td", {}), heads)),
      h("tbody", {}, shown.map((each) => row(each, full))),
    ),
  );
}

/** Return the first words of every topic, in the order of the table. */
function choose(answers, words) {
  const first = new Set(answers.flatMap((answer) => (answer.words ?? []).slice(0, WORDS_PER_TOPIC).map(({ word }) => word)));
  return words.filter(({ word }) => first.has(word));
}

function row({ word, probabilities, isShared }, full) {
  return h(
    "tr",
    { "data-word": word, class: isShared ? "is-shared" : null },
    h("th", { scope: "row" }, word),
    probabilities.map((each, place) => cell(each, full, place)),
  );
}

function cell(probability, full, place) {
  if (probability === null) return h("td", { class: "muted small" }, "not in it");
  const width = `${((100 * probability) / full).toFixed(1)}%`;
  return h(
    "td",
    { class: `series-${place % N_COLORS}` },
    h("span", { class: "cell" }, h("span", { class: "bar", "aria-hidden": "true" }, h("i", { style: { width } })), h("span", { class: "number" }, shareOf(probability))),
  );
}

/** Format a share; all below a tenth of a percent are the same to the eye. */
function shareOf(probability) {
  if (probability >= 0.001) return percent(probability);
  return probability > 0 ? "<0.1%" : "0";
}
