// The filter of documents by their columns: a condition, the columns that it may name, and whether to search within.

import { h, replace } from "../shared/dom.js";
import { count } from "../shared/numbers.js";

const BARE_NAME = /^[\p{L}_][\p{L}\p{N}_.]*$/u;
const KEYWORDS = ["and", "or", "not", "in", "is", "between", "contains", "missing", "true", "false"];
const EXAMPLES = { date: ">= 2020", number: "> 3", category: "= '…'", title: "contains '…'", link: "contains '…'" };
const BY_ROLE = Object.keys(EXAMPLES);

/** Return whether an error is about the filter. */
export function isAboutFilter({ code }) {
  return code.startsWith("filter_") || ["unknown_column", "no_columns"].includes(code);
}

/** Return the name of a column as a filter spells it. */
function spellColumn(name) {
  const isPlain = BARE_NAME.test(name) && !KEYWORDS.includes(name.toLowerCase());
  return isPlain ? name : `\`${name.replaceAll("`", "``")}\``;
}

/** Return the condition that a column has a value. */
export function conditionOf(column, value) {
  return `${spellColumn(column)} = '${value.replaceAll("'", "''")}'`;
}

export class FilterBox {
  /** Calls changed({where, within}) when a filter was typed, or the switch pressed. */
  constructor({ columns }, { changed }) {
    this.columns = columns;
    this.changed = changed;
    this.applied = "";
    this.input = h("input", {
      id: "where",
      type: "text",
      "aria-label": "Filter of documents",
      "aria-describedby": "filter-columns",
      placeholder: exampleOf(columns),
      autocomplete: "off",
      autocapitalize: "none",
      autocorrect: "off",
      spellcheck: "false",
      enterkeyhint: "go",
      maxlength: 2000,
      on: { input: () => this.#showNames(), focus: () => this.#showNames(), change: () => this.#apply() },
    });
    this.within = h("input", { id: "within", type: "checkbox", on: { change: () => this.#apply() } });
    this.matching = h("span", { id: "matching", class: "small muted number" });
    this.names = h("p", { id: "filter-columns", class: "filter-columns small" });
    const clear = { type: "button", class: "link small", on: { click: () => this.#clear() } };
    this.rest = h(
      "span",
      { class: "filter-rest" },
      this.matching,
      h("label", { class: "small" }, this.within, " find the topic in these alone"),
      h("button", clear, "remove"),
    );
    this.element = h(
      "form",
      { class: "filter-box", hidden: true, on: { submit: (event) => this.#submitted(event) } },
      h("label", { class: "small muted", for: "where" }, "Only documents with"),
      this.input,
      this.rest,
      this.names,
    );
  }

  /** Whether the box is there; never for an index without columns. */
  set isShown(isShown) {
    this.element.hidden = !isShown || this.columns.length === 0;
  }

  /** @param {import("./search.js").Search} search */
  show({ where, within }) {
    this.applied = where;
    this.input.value = where;
    this.within.checked = within;
    this.rest.hidden = where === "";
    this.input.removeAttribute("aria-invalid");
    this.#showNames();
  }

  /** Show how many documents match; null for an answer without a filter. */
  showMatching(n) {
    this.matching.textContent = n === null ? "" : `${count(n, "document")}`;
  }

  showError() {
    this.input.setAttribute("aria-invalid", "true");
    this.showMatching(null);
  }

  #submitted(event) {
    event.preventDefault();
    this.#apply();
  }

  #apply() {
    const where = this.input.value.trim();
    const within = where !== "" && this.within.checked;
    this.names.hidden = true;
    this.changed({ where, within });
  }

  #clear() {
    this.input.value = "";
    this.#apply();
    this.input.focus();
  }

  /** Suggest the columns that begin as the word before the caret, while a filter is typed. */
  #showNames() {
    const before = this.input.value.slice(0, this.input.selectionStart ?? undefined);
    const [typed] = before.match(/[\p{L}\p{N}_.]*$/u) ?? [""];
    const fits = this.columns.filter(({ name }) => name.toLowerCase().startsWith(typed.toLowerCase()));
    const isDone = fits.length === 1 && fits[0].name === typed;
    this.names.hidden = document.activeElement !== this.input || fits.length === 0 || isDone;
    replace(this.names, "Columns: ", fits.map((column) => [this.#nameButton(column, before.length, typed.length), " "]));
  }

  #nameButton({ name, role }, caret, nTyped) {
    // On mousedown, so that the box keeps the focus and no filter is applied yet.
    const press = (event) => {
      event.preventDefault();
      const start = `${this.input.value.slice(0, caret - nTyped)}${spellColumn(name)} `;
      this.input.value = start + this.input.value.slice(caret).trimStart();
      this.input.setSelectionRange(start.length, start.length);
      this.#showNames();
    };
    const props = { type: "button", class: "chip column-name", tabindex: "-1", on: { mousedown: press } };
    return h("button", props, name, role ? h("small", {}, role) : null);
  }
}

/** Return a condition with a column of this index. */
function exampleOf(columns) {
  const [first] = [...columns].sort((a, b) => rankOf(a) - rankOf(b));
  return first ? `${spellColumn(first.name)} ${EXAMPLES[first.role] ?? "= …"}` : "";
}

function rankOf({ role }) {
  const rank = BY_ROLE.indexOf(role);
  return rank < 0 ? BY_ROLE.length : rank;
}
