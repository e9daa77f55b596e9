// The slider from broad to narrow topics.

import { h } from "../shared/dom.js";

const STEP = 0.5;
const WIDEST = 3;

export class Breadth {
  /** Calls moved(narrower) while the slider moves, and settled() when it is released. */
  constructor({ moved, settled }) {
    this.input = h("input", {
      id: "narrower",
      type: "range",
      min: -WIDEST,
      max: WIDEST,
      step: STEP,
      value: 0,
      list: "narrower-middle",
      "aria-label": "From broad to narrow topics",
      on: { input: () => this.#moved(moved), change: settled, dblclick: () => this.#reset(moved, settled) },
    });
    this.uses = h("p", { id: "uses", class: "small muted" });
    const reset = () => this.#reset(moved, settled);
    this.reset = h("button", { type: "button", class: "link small", on: { click: reset } }, "reset");
    this.element = h(
      "section",
      { class: "breadth", "aria-label": "Breadth" },
      h("div", { class: "breadth-ends small muted" }, h("span", {}, "broad"), h("span", {}, "narrow")),
      this.input,
      h("datalist", { id: "narrower-middle" }, h("option", { value: 0 })),
      h("div", { class: "breadth-below" }, this.uses, this.reset),
    );
    this.value = 0;
  }

  set value(narrower) {
    this.input.value = narrower;
    this.input.setAttribute("aria-valuetext", describe(narrower));
    this.input.title = describe(narrower);
    this.reset.hidden = narrower === 0;
  }

  showUse(answer) {
    this.uses.textContent = answer ? `uses ${answer.n_components} of ${answer.n_fitted} topics` : "Automatic";
  }

  #moved(moved) {
    const narrower = Number(this.input.value);
    this.value = narrower;
    moved(narrower);
  }

  #reset(moved, settled) {
    this.input.value = "0";
    this.#moved(moved);
    settled();
  }
}

function describe(narrower) {
  if (narrower === 0) return "Automatic";
  return narrower > 0 ? `${narrower} narrower than automatic` : `${-narrower} broader than automatic`;
}
