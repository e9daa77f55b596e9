// Past searches of an index, newest first.

import { h, replace } from "../shared/dom.js";
import { remember, rememberedList } from "../shared/memory.js";
import { rove } from "../shared/roving.js";

const MAX_STEPS = 30;

export class Trail {
  /** Calls chosen(query string) when a past search is clicked. */
  constructor(index, { chosen }) {
    this.name = `trail:${index.name}`;
    this.chosen = chosen;
    this.list = h("ol", { class: "trail-steps" });
    this.rove = rove(this.list);
    const clear = h("button", { type: "button", class: "link small", on: { click: () => this.#keep([]) } }, "clear");
    this.element = h(
      "details",
      { id: "trail", class: "trail", open: matchMedia("(min-width: 821px)").matches },
      h("summary", {}, "Past searches"),
      this.list,
      clear,
    );
    this.#show();
  }

  /** Add a search at the front, without duplicates and without the draft that it replaces. */
  add(step, draft = null) {
    const others = this.#steps().filter(({ search }) => search !== step.search && search !== draft);
    this.#keep([step, ...others].slice(0, MAX_STEPS));
  }

  #steps() {
    return rememberedList("localStorage", this.name).filter((step) => typeof step?.search === "string");
  }

  #keep(steps) {
    remember("localStorage", this.name, steps);
    this.#show();
  }

  #show() {
    const steps = this.#steps();
    this.element.hidden = steps.length === 0;
    replace(
      this.list,
      steps.map((step) => h("li", {}, this.#step(step))),
    );
    this.rove();
  }

  #step({ search, label, oddity, words }) {
    return h(
      "button",
      { type: "button", class: "step", on: { click: () => this.chosen(search) } },
      h("span", {}, label, oddity ? h("i", {}, ` ${oddity}`) : null),
      h("small", {}, words),
    );
  }
}
