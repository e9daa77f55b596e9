// Next to the search box: the documents that are marked as about the topic, or as not about it.

import { get, pathOf, tagOf } from "../shared/api.js";
import { nameOfDocument } from "../shared/document-facts.js";
import { h, replace } from "../shared/dom.js";
import { nameOf } from "./search.js";

// More are counted.
const MAX_CHIPS = 6;
const SIGNS = { yes: "like ", no: "not like " };

export class MarkedDocuments {
  #names = new Map(); // row -> name, and the state of the index that it is of
  /** @type {string[][]} Rows, each with "yes" or "no". */
  marks = [];

  /** Calls removed(row) to take back one mark, cleared() to take back all. */
  constructor(index, { removed, cleared }) {
    this.index = index;
    this.removed = removed;
    this.cleared = cleared;
    this.element = h("div", { class: "likes", role: "group", "aria-label": "Marked documents" });
  }

  /** Return the name of a search: of documents, their titles as far as they are known. */
  nameOf(search) {
    const names = search.documents.map((row) => this.#names.get(row)?.name).filter(Boolean);
    const isNamed = !search.q.trim() && names.length > 0 && names.length === search.documents.length;
    return isNamed && names.length <= MAX_CHIPS ? names.join(", ") : nameOf(search);
  }

  /** Show the documents of a state of the index, if one is given; the promise is fulfilled when their names are known. */
  async show({ documents, not_documents: notDocuments }, tag) {
    const marks = [...documents.map((row) => [row, "yes"]), ...notDocuments.map((row) => [row, "no"])];
    this.marks = marks;
    this.#draw();
    const hasNames = this.index.has_names || this.index.columns.some(({ role }) => role === "title");
    const shown = marks.slice(0, MAX_CHIPS).map(([row]) => row);
    const unknown = hasNames ? shown.filter((row) => tag === null || this.#names.get(row)?.tag !== tag) : [];
    if (unknown.length === 0) return;
    await Promise.all(unknown.map((row) => this.#ask(row, tag)));
    if (this.marks === marks) this.#draw();
  }

  async #ask(row, tag) {
    try {
      const found = await get(pathOf(this.index, `documents/${row}`), {}, { tag });
      this.#names.set(row, { name: nameOfDocument(found), tag: tagOf(found) });
    } catch {
      this.#names.set(row, { name: null, tag }); // the search reports the error
    }
  }

  #draw() {
    const { length } = this.marks;
    const more = length > MAX_CHIPS ? h("span", { class: "small muted" }, `and ${length - MAX_CHIPS} more`) : null;
    const clear = { type: "button", class: "link small", on: { click: this.cleared } };
    replace(
      this.element,
      this.marks.slice(0, MAX_CHIPS).map(([row, mark]) => this.#chip(row, mark)),
      more,
      length > 1 ? h("button", clear, "clear all") : null,
    );
    this.element.hidden = length === 0;
  }

  #chip(row, mark) {
    const label = `${SIGNS[mark]}${this.#names.get(row)?.name ?? `document ${row}`}`;
    const remove = { type: "button", "aria-label": `Remove ${label}`, on: { click: () => this.removed(row) } };
    return h("span", { class: `chip like-chip ${mark}` }, h("span", {}, label), h("button", remove, "×"));
  }
}
