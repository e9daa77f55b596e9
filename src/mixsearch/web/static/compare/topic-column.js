// One column of the comparison.

import { h } from "../shared/dom.js";
import { isPlainClick } from "../shared/links.js";
import { percent } from "../shared/numbers.js";
import { titleOf } from "../shared/topic-title.js";
import { badgeOf, toneOf } from "../shared/verdicts.js";

/** Create the column of a topic; shared words are those of several columns. */
export function topicColumn(answer, shared, act) {
  return h(
    "section",
    { class: "card column", "data-hint": answer.hint, "aria-label": `Topic of ${answer.hint}` },
    answer.error ? failed(answer) : found(answer, shared),
    h("div", { class: "toolbar" }, answer.error ? null : openLink(answer, act), removeButton(answer, act)),
  );
}

function found(answer, shared) {
  const isFirst = answer.alternative === 0;
  const most = Math.max(...answer.words.map(({ probability }) => probability), 1e-12);
  return [
    h("p", { class: "eyebrow" }, isFirst ? "Topic of " : "Another meaning of ", h("b", {}, answer.hint)),
    h("h2", {}, titleOf(answer.words)),
    h("p", { class: `verdict ${toneOf(answer)}` }, badgeOf(answer)),
    h("p", { class: "small muted" }, `${percent(answer.weight)} of the corpus`),
    h("ol", { class: "pairs" }, answer.words.map((each) => row(each, most, shared.has(each.word)))),
  ];
}

function row({ word, probability }, most, isShared) {
  const width = `${((100 * probability) / most).toFixed(1)}%`;
  return h(
    "li",
    { class: isShared ? "pair is-shared" : "pair", "data-word": word, tabindex: isShared ? "0" : null },
    h("span", { class: "pair-word" }, word, isShared ? h("span", { class: "visually-hidden" }, " (shared)") : null),
    h("span", { class: "bar", "aria-hidden": "true" }, h("i", { style: { width } })),
    h("span", { class: "number" }, percent(probability)),
  );
}

function failed({ hint, error }) {
  const eyebrow = h("p", { class: "eyebrow" }, "Topic of ", h("b", {}, hint));
  return [eyebrow, h("h2", {}, "No topic"), h("p", { class: "failed" }, error.message)];
}

function openLink({ hint }, act) {
  const follow = (event) => {
    if (!isPlainClick(event)) return;
    event.preventDefault();
    act.open();
  };
  const props = { class: "button plain open", href: act.href, "aria-label": `Open ${hint}`, on: { click: follow } };
  return h("a", props, "Open");
}

function removeButton({ hint }, act) {
  const props = { type: "button", class: "button plain remove", "aria-label": `Remove ${hint}` };
  return h("button", { ...props, on: { click: act.remove } }, "Remove");
}
