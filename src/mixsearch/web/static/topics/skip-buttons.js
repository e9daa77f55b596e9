// Buttons, seen when they have the focus, that lead to the parts of an answer.

import { h } from "../shared/dom.js";

/** Create the buttons for the answer in a pane. */
export function skipButtons(pane) {
  const skip = (label, selector) =>
    h("button", { type: "button", class: "button plain skip", on: { click: () => pane.querySelector(selector)?.focus() } }, label);
  return h("div", { class: "skips" }, skip("Skip to the topic", "h1"), skip("Skip to the documents", "#documents-title"));
}
