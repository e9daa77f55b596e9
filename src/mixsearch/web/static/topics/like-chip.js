// Beside the box: the documents that a search wants more of.

import { get, pathOf } from "../shared/api.js";
import { h, replace } from "../shared/dom.js";
import { nameOf } from "./search.js";

export class LikeChip {
  #names = new Map(); // row -> name, as far as known

  constructor(index, { removed }) {
    this.index = index;
    this.removed = removed;
    this.element = h("div", { class: "likes" });
  }

  async show({ like }) {
    this.like = like;
    this.#draw();
    const unknown = this.index.has_names ? like.filter((row) => !this.#names.has(row)) : [];
    if (unknown.length === 0) return;
    await Promise.all(unknown.map((row) => this.#ask(row)));
    if (this.like === like) this.#draw();
  }

  async #ask(row) {
    try {
      const { name } = await get(pathOf(this.index, `documents/${row}`));
      this.#names.set(row, name);
    } catch {
      this.#names.set(row, null); // the search itself says what is wrong
    }
  }

  #draw() {
    if (this.like.length === 0) {
      replace(this.element);
      return;
    }
    const names = this.like.map((row) => this.#names.get(row)).filter(Boolean);
    const isNamed = names.length === this.like.length;
    const label = isNamed ? `like document ${names.join(", ")}` : `like ${nameOf({ q: "", like: this.like })}`;
    const remove = { type: "button", "aria-label": `Remove ${label}`, on: { click: this.removed } };
    replace(this.element, h("span", { class: "chip like-chip" }, label, h("button", remove, "×")));
  }
}
