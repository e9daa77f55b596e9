// Next to the search box: the documents used as the hint.

import { get, pathOf } from "../shared/api.js";
import { nameOfDocument } from "./document-facts.js";
import { h, replace } from "../shared/dom.js";
import { nameOf } from "./search.js";

export class LikeChip {
  #names = new Map(); // row -> name

  constructor(index, { removed }) {
    this.index = index;
    this.removed = removed;
    this.element = h("div", { class: "likes" });
  }

  /** Return the name of a search: of documents, their titles as far as they are known. */
  nameOf(search) {
    const names = search.documents.map((row) => this.#names.get(row)).filter(Boolean);
    const isNamed = !search.q.trim() && names.length > 0 && names.length === search.documents.length;
    return isNamed ? names.join(", ") : nameOf(search);
  }

  /** Show the documents; the promise is fulfilled when their names are known. */
  async show({ documents }) {
    this.documents = documents;
    this.#draw();
    const hasNames = this.index.has_names || this.index.columns.some(({ role }) => role === "title");
    const unknown = hasNames ? documents.filter((row) => !this.#names.has(row)) : [];
    if (unknown.length === 0) return;
    await Promise.all(unknown.map((row) => this.#ask(row)));
    if (this.documents === documents) this.#draw();
  }

  async #ask(row) {
    try {
      this.#names.set(row, nameOfDocument(await get(pathOf(this.index, `documents/${row}`))));
    } catch {
      this.#names.set(row, null); // the search reports the error
    }
  }

  #draw() {
    if (this.documents.length === 0) {
      replace(this.element);
      return;
    }
    const label = `like ${this.nameOf({ q: "", documents: this.documents })}`;
    const remove = { type: "button", "aria-label": `Remove ${label}`, on: { click: this.removed } };
    replace(this.element, h("span", { class: "chip like-chip" }, label, h("button", remove, "×")));
  }
}
