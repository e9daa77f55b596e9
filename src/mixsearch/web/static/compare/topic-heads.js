// The heads of the columns: what each topic is, and what to do with it.

import { h } from "../shared/dom.js";
import { isPlainClick } from "../shared/links.js";
import { percent } from "../shared/numbers.js";
import { titleOf } from "../shared/topic-title.js";
import { badgeOf, toneOf } from "../shared/verdicts.js";

/** Create the head of a column; place is its number among the colors. */
export function topicHead(answer, place, act) {
  return h(
    "th",
    { scope: "col", class: `topic-head series-${place}`, "data-hint": answer.hint },
    answer.error ? failed(answer) : found(answer, act),
    h("span", { class: "toolbar" }, answer.error ? null : openLink(answer, act), act.remove ? removeButton(answer, act) : null),
  );
}

function found(answer, { index }) {
  const isFirst = answer.alternative === 0;
  return [
    h("span", { class: "eyebrow" }, h("i", { class: "series-key", "aria-hidden": "true" }), isFirst ? " " : " another meaning of ", h("b", {}, answer.hint), index ? ` in ${index}` : null),
    h("span", { class: "head-title" }, titleOf(answer.words)),
    h("span", { class: `verdict ${toneOf(answer)}` }, badgeOf(answer)),
    h("span", { class: "small muted" }, `${percent(answer.weight)} of the corpus`),
  ];
}

function failed({ hint, error }) {
  return [h("span", { class: "eyebrow" }, h("b", {}, hint)), h("span", { class: "head-title" }, "No topic"), h("span", { class: "failed small" }, error.message)];
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
