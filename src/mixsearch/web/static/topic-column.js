// One of several topics that stand side by side.

import { h } from "./dom.js";
import { percent } from "./numbers.js";
import { titleOf } from "./topic-card.js";
import { badgeOf, toneOf } from "./verdicts.js";

/** A topic as a column; shared are the words that other columns have as well. */
export function topicColumn(answer, shared, act) {
  const buttons = h(
    "div",
    { class: "toolbar" },
    answer.error ? null : openLink(answer, act),
    h("button", { type: "button", class: "button plain remove", "aria-label": `Remove ${answer.hint}`, on: { click: act.remove } }, "Remove"),
  );
  return h("section", { class: "card column", "data-hint": answer.hint, "aria-label": `Topic of ${answer.hint}` }, answer.error ? failed(answer) : found(answer, shared), buttons);
}

function found(answer, shared) {
  const most = Math.max(...answer.words.map(({ probability }) => probability), 1e-12);
  return [
    h("p", { class: "eyebrow" }, answer.alternative > 0 ? "Another reading of " : "Topic of ", h("b", {}, answer.hint)),
    h("h2", {}, titleOf(answer.words)),
    h("p", { class: `verdict ${toneOf(answer)}` }, badgeOf(answer)),
    h("p", { class: "small muted" }, `${percent(answer.weight)} of the corpus`),
    h("ol", { class: "pairs" }, answer.words.map((each) => row(each, most, shared.has(each.word)))),
  ];
}

function row({ word, probability }, most, isShared) {
  const props = isShared ? { class: "pair is-shared", "data-word": word, tabindex: "0" } : { class: "pair", "data-word": word };
  return h(
    "li",
    props,
    h("span", { class: "pair-word" }, word, isShared ? h("span", { class: "visually-hidden" }, " (shared)") : null),
    h("span", { class: "bar", "aria-hidden": "true" }, h("i", { style: { width: `${((100 * probability) / most).toFixed(1)}%` } })),
    h("span", { class: "number" }, percent(probability)),
  );
}

function failed({ hint, error }) {
  return [h("p", { class: "eyebrow" }, "Topic of ", h("b", {}, hint)), h("h2", {}, "No topic"), h("p", {}, error.message)];
}

/** A link, so that it opens elsewhere too; a plain click stays in the page. */
function openLink({ hint }, act) {
  const follow = (event) => {
    if (event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    act.open();
  };
  return h("a", { class: "button plain open", href: act.href, "aria-label": `Open ${hint}`, on: { click: follow } }, "Open");
}
