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

  /** Add a search at the front, without duplicates, the draft that it replaces, and what it was before its last marks. */
  add(step, draft = null) {
    const others = this.#steps().filter(({ search }) => search !== draft && !isStageOf(search, step.search));
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

/** Return whether two searches are the same, or the first has only some of the marks. */
function isStageOf(search, whole) {
  const marks = new URLSearchParams(whole).has("q") ? ["documents", "not_documents"] : ["not_documents"];
  const [some, all] = [search, whole].map((each) => new Set(each.split("&")));
  const isMark = (part) => marks.some((name) => part.startsWith(`${name}=`));
  const isMarked = [...some].some(isMark) || some.size === all.size;
  return isMarked && [...some].every((part) => all.has(part)) && [...all].every((part) => isMark(part) || some.has(part));
}
