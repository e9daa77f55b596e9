// Next to the search box: the documents used as the hint.

import { get, pathOf } from "../shared/api.js";
import { h, replace } from "../shared/dom.js";
import { nameOf } from "./search.js";

export class LikeChip {
  #names = new Map(); // row -> name

  constructor(index, { removed }) {
    this.index = index;
    this.removed = removed;
    this.element = h("div", { class: "likes" });
  }

  async show({ documents }) {
    this.documents = documents;
    this.#draw();
    const unknown = this.index.has_names ? documents.filter((row) => !this.#names.has(row)) : [];
    if (unknown.length === 0) return;
    await Promise.all(unknown.map((row) => this.#ask(row)));
    if (this.documents === documents) this.#draw();
  }

  async #ask(row) {
    try {
      const { name } = await get(pathOf(this.index, `documents/${row}`));
      this.#names.set(row, name);
    } catch {
      this.#names.set(row, null); // the search reports the error
    }
  }

  #draw() {
    if (this.documents.length === 0) {
      replace(this.element);
      return;
    }
    const names = this.documents.map((row) => this.#names.get(row)).filter(Boolean);
    const isNamed = names.length === this.documents.length;
    const label = isNamed ? `like document ${names.join(", ")}` : `like ${nameOf({ q: "", documents: this.documents })}`;
    const remove = { type: "button", "aria-label": `Remove ${label}`, on: { click: this.removed } };
    replace(this.element, h("span", { class: "chip like-chip" }, label, h("button", remove, "×")));
  }
}
