// Which words to map: automatic ones, or the user's own.

import { h } from "../shared/dom.js";
import { piecesOf, withWord } from "../shared/query.js";

const KINDS = {
  distinctive: { label: "Distinctive", about: "Words that differ most from topic to topic." },
  frequent: { label: "Frequent", about: "Words that most documents hold; many of them belong to several topics." },
  own: { label: "My own", about: 'Commas or blanks between words; quotes keep "several words" together.' },
};
const DEFAULT = { words: "", by: "distinctive", n: 30 };
const FEWEST = 10;
const STEP = 10;
const SETTLED_AFTER = 300; // ms: arrow keys move the slider step by step

export function readChoice(state, { max_map_words: most }) {
  const n = STEP * Math.round(Number(state.get("n") ?? DEFAULT.n) / STEP);
  return {
    words: tidied(state.getAll("words").join(" ")),
    by: state.get("by") === "frequent" ? "frequent" : DEFAULT.by,
    n: Number.isFinite(n) ? Math.min(Math.max(n, FEWEST), most) : DEFAULT.n,
  };
}

/** Return the parameters of a choice, without defaults. */
export function paramsOf({ words, by, n }) {
  if (words) return { words };
  return { by: by === DEFAULT.by ? null : by, n: n === DEFAULT.n ? null : n };
}

/** Split a typed list into words. */
export function wordsOf(text) {
  return piecesOf(text.replace(/[,;]/gu, " ")).map(({ word }) => word);
}

function tidied(text) {
  return wordsOf(text).reduce((list, word) => withWord(list, word), "");
}

export class OverviewChoice {
  #timer = 0;

  /** Calls changed(choice) when the user has chosen. */
  constructor({ index, settings }, changed) {
    this.value = DEFAULT;
    this.changed = changed;
    this.kinds = Object.entries(KINDS).map(([kind, { label }]) =>
      h("button", { type: "button", "data-kind": kind, on: { click: () => this.#choose(kind) } }, label),
    );
    this.range = h("input", { id: "how-many", type: "range", min: FEWEST, max: settings.max_map_words, step: STEP, on: { input: () => this.#showNumber(), change: () => this.#number() } });
    this.number = h("output", { for: "how-many", class: "number" });
    this.many = h("label", { class: "how-many" }, "How many ", this.range, this.number);
    this.text = h("input", {
      id: "own-words",
      type: "text",
      placeholder: index.distinctive_words.slice(0, 4).join(", "),
      "aria-label": "Words to map",
      autocomplete: "off",
      autocapitalize: "none",
      spellcheck: "false",
      maxlength: 2000,
    });
    this.own = h("span", { class: "own-words" }, this.text, h("button", { class: "button" }, "Show the map"));
    this.about = h("p", { class: "small muted" });
    const choices = h("span", { class: "switch", role: "group", "aria-labelledby": "which-words" }, this.kinds);
    this.element = h(
      "form",
      { class: "overview-choice", on: { submit: (event) => this.#submit(event) } },
      h("span", { class: "which-words" }, h("span", { id: "which-words" }, "Words "), choices),
      this.many,
      this.own,
      this.about,
    );
  }

  /** Show a choice. */
  set(choice) {
    this.value = choice;
    this.text.value = choice.words || this.text.value;
    this.range.value = choice.n;
    this.#showNumber();
    this.#show(choice.words ? "own" : choice.by);
  }

  close() {
    clearTimeout(this.#timer);
  }

  #show(kind) {
    for (const button of this.kinds) button.setAttribute("aria-pressed", String(button.dataset.kind === kind));
    this.many.hidden = kind === "own";
    this.own.hidden = kind !== "own";
    this.about.textContent = KINDS[kind].about;
  }

  #showNumber() {
    this.number.textContent = this.range.value;
  }

  /** Own words open a text box; the map waits until it is submitted. */
  #choose(kind) {
    this.#show(kind);
    if (kind === "own") this.text.focus();
    else this.changed({ ...this.value, words: "", by: kind });
  }

  #number() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.changed({ ...this.value, words: "", n: Number(this.range.value) }), SETTLED_AFTER);
  }

  #submit(event) {
    event.preventDefault();
    const words = tidied(this.text.value);
    if (words) this.changed({ ...this.value, words });
    else this.text.focus();
  }
}
