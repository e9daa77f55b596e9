// The search box, with completions of the word at the caret.

import { get, pathOf } from "../shared/api.js";
import { Completions } from "./completions.js";
import { h } from "../shared/dom.js";
import { Newest } from "../shared/newest.js";
import { prefixAt, quoted } from "../shared/query.js";

const N_COMPLETIONS = 8;
const MOVES = { ArrowDown: 1, ArrowUp: -1 };

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
