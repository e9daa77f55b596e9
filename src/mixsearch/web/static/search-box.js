// The box: what is typed, and completions of the word at the caret (the combobox pattern of ARIA).

import { get, pathOf } from "./api.js";
import { h, replace } from "./dom.js";
import { Newest } from "./newest.js";
import { count } from "./numbers.js";
import { piecesOf, prefixAt } from "./query.js";

const MOST_WORDS = 8;

export class SearchBox {
  #newest = new Newest();
  #known = new Map(); // prefix -> words, so that going back and forth asks nothing
  #options = [];
  #active = -1;

  /** Calls typed() at every change, and entered() when the person is done with it. */
  constructor(index, { typed, entered, cleared }) {
    this.index = index;
    this.typed = typed;
    this.list = h("ul", {
      id: "completions",
      class: "completions",
      role: "listbox",
      "aria-label": "Words of the corpus",
      hidden: true,
    });
    this.input = h("input", {
      id: "query",
      type: "text",
      role: "combobox",
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
      maxlength: 1000,
      on: {
        input: () => this.#changed(),
        keydown: (event) => this.#pressed(event),
        blur: () => this.close(),
      },
    });
    this.clear = h(
      "button",
      { type: "button", class: "clear", "aria-label": "Clear the search", on: { click: cleared } },
      "×",
    );
    this.slash = h("kbd", { class: "slash", title: "Press / to type", "aria-hidden": "true" }, "/");
    this.element = h(
      "form",
      { class: "search-box", role: "search", on: { submit: (event) => this.#submitted(event, entered) } },
      this.input,
      this.clear,
      this.slash,
      this.list,
    );
  }

  get text() {
    return this.input.value;
  }

  set text(text) {
    if (text !== this.input.value) this.input.value = text;
    this.element.classList.toggle("is-empty", text === "");
  }

  /** Whether the last word is still being typed, and so may stand for its most frequent completion. */
  get isUnfinished() {
    const { value, selectionStart } = this.input;
    const isAtEnd = document.activeElement === this.input && selectionStart === value.length;
    return isAtEnd && prefixAt(value, value.length) !== null;
  }

  focus() {
    this.input.focus();
    this.input.select();
  }

  close() {
    this.#newest.stop();
    this.#show([]);
  }

  #changed() {
    this.element.classList.toggle("is-empty", this.text === "");
    this.typed();
    this.#complete();
  }

  async #complete() {
    const at = prefixAt(this.text, this.input.selectionStart);
    if (!at) return this.close();
    const known = this.#known.get(at.prefix);
    if (known) return this.#show(known);
    const params = { prefix: at.prefix, n: MOST_WORDS };
    const result = await this.#newest.ask((signal) => get(pathOf(this.index, "words"), params, { signal }));
    if (result?.answer) {
      this.#known.set(at.prefix, result.answer.words);
      if (document.activeElement === this.input) this.#show(result.answer.words);
    } else if (result?.error) {
      this.#show([]); // the search itself says what is wrong
    }
    return undefined;
  }

  #show(words) {
    const typed = prefixAt(this.text, this.input.selectionStart)?.prefix;
    this.#options = words.length === 1 && words[0].word === typed ? [] : words;
    this.list.hidden = this.#options.length === 0;
    this.input.setAttribute("aria-expanded", String(!this.list.hidden));
    replace(this.list, this.#options.map((each, i) => this.#option(each, i, typed)));
    this.#activate(-1);
  }

  #option({ word, n_documents: n }, i, typed) {
    // The mouse must not take the focus from the box, hence mousedown.
    const take = (event) => {
      event.preventDefault();
      this.#take(i);
    };
    const isLonger = typed && word.toLowerCase().startsWith(typed.toLowerCase());
    const told = isLonger ? [word.slice(0, typed.length), h("b", {}, word.slice(typed.length))] : word;
    const unit = h("span", { class: "visually-hidden" }, " documents");
    return h(
      "li",
      { id: `completion-${i}`, role: "option", "aria-selected": "false", on: { mousedown: take } },
      h("span", { class: "completion" }, told),
      h("small", { class: "number", title: count(n, "document") }, n.toLocaleString("en"), unit),
    );
  }

  #activate(i) {
    this.#active = i;
    [...this.list.children].forEach((option, j) => option.setAttribute("aria-selected", String(i === j)));
    if (i < 0) {
      this.input.removeAttribute("aria-activedescendant");
    } else {
      this.input.setAttribute("aria-activedescendant", `completion-${i}`);
      this.list.children[i].scrollIntoView({ block: "nearest" });
    }
  }

  #take(i) {
    const at = prefixAt(this.text, this.input.selectionStart);
    if (!at) return;
    const rest = this.text.slice(this.input.selectionStart).replace(/^\S*\s?/u, "");
    const before = `${this.text.slice(0, at.start)}${this.#options[i].word} `;
    this.text = before + rest;
    this.input.setSelectionRange(before.length, before.length);
    this.close();
    this.typed();
  }

  #pressed(event) {
    const n = this.#options.length;
    if (n === 0 || event.isComposing) return;
    const moves = { ArrowDown: 1, ArrowUp: -1 };
    if (event.key in moves) {
      event.preventDefault();
      // One more place than options: the box itself, with nothing chosen.
      this.#activate(((this.#active + 1 + moves[event.key] + n + 1) % (n + 1)) - 1);
    } else if (event.key === "Escape") {
      event.preventDefault();
      this.close();
    } else if (event.key === "Enter" && this.#active >= 0) {
      event.preventDefault();
      this.#take(this.#active);
    } else if (event.key === "Tab" && !event.shiftKey && (this.#active >= 0 || !this.#isWord())) {
      event.preventDefault();
      this.#take(Math.max(this.#active, 0));
    }
  }

  /** Whether what is typed is a word already, so that Tab may go on to the next control. */
  #isWord() {
    const typed = piecesOf(this.text).findLast(({ start }) => start < this.input.selectionStart)?.word;
    return this.#options.some(({ word }) => word === typed);
  }

  #submitted(event, entered) {
    event.preventDefault();
    this.close();
    entered();
  }
}
