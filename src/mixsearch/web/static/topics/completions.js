// Completions: the list of an ARIA combobox. The focus stays in the box.

import { h, replace } from "../shared/dom.js";
import { count } from "../shared/numbers.js";

export class Completions {
  #words = [];
  #active = -1;

  /** Calls taken(word) when a word is clicked. */
  constructor(input, { taken }) {
    this.input = input;
    this.taken = taken;
    this.element = h("ul", {
      id: "completions",
      class: "completions",
      role: "listbox",
      "aria-label": "Words of the corpus",
      hidden: true,
    });
  }

  get isOpen() {
    return this.#words.length > 0;
  }

  /** The word selected by arrow keys, if any. */
  get chosen() {
    return this.#words[this.#active]?.word ?? null;
  }

  get first() {
    return this.#words[0].word;
  }

  /** Return whether the typed text is a complete word. */
  has(typed) {
    return this.#words.some(({ word }) => word.toLowerCase() === typed?.toLowerCase());
  }

  show(words, typed) {
    const saysMore = words.length > 1 || (words.length === 1 && words[0].word !== typed);
    this.#words = saysMore ? words : [];
    this.element.hidden = !this.isOpen;
    this.input.setAttribute("aria-expanded", String(this.isOpen));
    replace(this.element, this.#words.map((each, i) => this.#option(each, i, typed)));
    this.#choose(-1);
  }

  close() {
    this.show([], "");
  }

  /** Move the selection up or down; past the ends, nothing is selected. */
  move(step) {
    const places = this.#words.length + 1;
    this.#choose(((this.#active + 1 + step + places) % places) - 1);
  }

  #choose(i) {
    this.#active = i;
    [...this.element.children].forEach((option, j) => option.setAttribute("aria-selected", String(i === j)));
    if (i < 0) {
      this.input.removeAttribute("aria-activedescendant");
    } else {
      this.input.setAttribute("aria-activedescendant", `completion-${i}`);
      this.element.children[i].scrollIntoView({ block: "nearest" });
    }
  }

  #option({ word, n_documents: n }, i, typed) {
    // On mousedown, so that the box keeps the focus.
    const press = (event) => {
      event.preventDefault();
      this.taken(word);
    };
    const isLonger = typed && word.toLowerCase().startsWith(typed.toLowerCase());
    const unit = h("span", { class: "visually-hidden" }, " documents");
    return h(
      "li",
      { id: `completion-${i}`, role: "option", "aria-selected": "false", on: { mousedown: press } },
      h("span", { class: "completion" }, isLonger ? [typed, h("b", {}, word.slice(typed.length))] : word),
      h("small", { class: "number", title: count(n, "document") }, n.toLocaleString("en"), unit),
    );
  }
}
