// The search box, with completions of the word at the caret, and the marked documents below it.

import { get, Newest, pathOf, tagOf } from "../shared/api.js";
import { nameOfDocument } from "../shared/document-facts.js";
import { h, replace } from "../shared/dom.js";
import { count } from "../shared/numbers.js";
import { prefixAt, quoted } from "../shared/query.js";
import { nameOf } from "./search.js";

const N_COMPLETIONS = 8;
const MOVES = { ArrowDown: 1, ArrowUp: -1 };
// More are counted.
const MAX_CHIPS = 6;
const SIGNS = { yes: "like ", no: "not like " };

export class SearchBox {
  #newest = new Newest();
  #known = new Map(); // prefix -> words, a cache

  /** Calls typed() at every change, entered() on Enter, cleared() on the clear button. */
  constructor({ index, settings }, { typed, entered, cleared }) {
    this.index = index;
    this.typed = typed;
    this.entered = entered;
    this.input = h("input", {
      id: "query",
      type: "text",
      role: "combobox",
      dir: "auto",
      placeholder: "Type a word, or several",
      "aria-label": "Words to search for",
      "aria-autocomplete": "list",
      "aria-expanded": "false",
      "aria-controls": "completions",
      autocomplete: "off",
      autocapitalize: "none",
      autocorrect: "off",
      spellcheck: "false",
      enterkeyhint: "search",
      maxlength: settings.max_query_length,
      on: {
        input: () => this.#changed(),
        keydown: (event) => this.#pressed(event),
        blur: () => this.#close(),
      },
    });
    this.completions = new Completions(this.input, { taken: (word) => this.#take(word) });
    const clear = { type: "button", class: "clear", "aria-label": "Clear the search", on: { click: cleared } };
    this.element = h(
      "form",
      { class: "search-box", role: "search", on: { submit: (event) => this.#submitted(event) } },
      this.input,
      h("button", clear, "×"),
      h("kbd", { class: "slash", title: "Press / to type", "aria-hidden": "true" }, "/"),
      this.completions.element,
    );
  }

  get text() {
    return this.input.value;
  }

  set text(text) {
    if (text !== this.input.value) this.input.value = text;
    this.element.classList.toggle("is-empty", text === "");
  }

  /** Whether the last word is still being typed and may be completed. */
  get isUnfinished() {
    const isAtEnd = document.activeElement === this.input && this.input.selectionStart === this.text.length;
    return isAtEnd && this.#at !== null;
  }

  focus() {
    this.input.focus();
    this.input.select();
  }

  /** The prefix at the caret and its position. */
  get #at() {
    return prefixAt(this.text, this.input.selectionStart);
  }

  #changed() {
    this.element.classList.toggle("is-empty", this.text === "");
    this.typed();
    this.#complete();
  }

  async #complete() {
    this.#newest.stop();
    const prefix = this.#at?.prefix;
    if (!prefix) {
      this.completions.close();
      return;
    }
    if (!this.#known.has(prefix)) {
      const params = { prefix, n: N_COMPLETIONS };
      const result = await this.#newest.ask((signal) => get(pathOf(this.index, "words"), params, { signal }));
      if (result === null) return;
      // The search reports an error.
      if (result.answer) this.#known.set(prefix, result.answer.words);
    }
    this.completions.show(this.#known.get(prefix) ?? [], prefix);
  }

  #close() {
    this.#newest.stop();
    this.completions.close();
  }

  /** Replace the word at the caret. */
  #take(word) {
    const at = this.#at;
    if (!at) return; // the caret was moved away
    const rest = this.text.slice(this.input.selectionStart ?? 0).replace(/^\S*\s?/u, "");
    const before = `${this.text.slice(0, at.start)}${quoted(word)} `;
    this.text = before + rest;
    this.input.setSelectionRange(before.length, before.length);
    this.#close();
    this.typed();
  }

  #pressed(event) {
    if (event.isComposing) return;
    if (event.key in MOVES) {
      event.preventDefault();
      if (this.completions.isOpen) this.completions.move(MOVES[event.key]);
      else this.#complete();
    } else if (this.completions.isOpen && this.#handled(event)) {
      event.preventDefault();
    }
  }

  /** Handle a key of the list; return whether it was one. */
  #handled({ key, shiftKey }) {
    const { chosen } = this.completions;
    if (key === "Escape") this.#close();
    else if (key === "Enter" && chosen) this.#take(chosen);
    else if (key === "Tab" && !shiftKey && chosen) this.#take(chosen);
    // After a complete word, Tab moves to the next control.
    else if (key === "Tab" && !shiftKey && !this.completions.has(this.#at?.prefix)) this.#take(this.completions.first);
    else return false;
    return true;
  }

  #submitted(event) {
    event.preventDefault();
    this.#close();
    this.entered();
  }
}

/** Completions: the list of an ARIA combobox. The focus stays in the box. */
class Completions {
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

/** The documents that are marked as about the topic, or as not about it. */
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
