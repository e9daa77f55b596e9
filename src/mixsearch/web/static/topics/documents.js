// Typical documents of a topic, page by page.

import { ApiError, get, INDEX_CHANGED, pathOf } from "../shared/api.js";
import { breakable, dateAndLink, nameOfDocument } from "../shared/document-facts.js";
import { h } from "../shared/dom.js";
import { roughly } from "../shared/numbers.js";
import { rove } from "../shared/roving.js";
import { markOf, paramsOf } from "./search.js";

export const PAGE = 10;
// As many documents an answer may have.
const MAX_RESTORED = 100;
const ORDERS = {
  date: [["newest first", true], ["oldest first", false]],
  number: [["highest first", true], ["lowest first", false]],
  title: [["A to Z", false]],
};
const ANSWERS = {
  yes: { label: "Yes", title: "More documents like this one" },
  no: { label: "No", title: "Not documents like this one" },
};
// Letters of scripts without spaces stand beside a word without being part of it.
const SCRIPTS = ["Han", "Hiragana", "Katakana", "Thai", "Lao", "Khmer", "Myanmar"];
const UNSPACED = `[${SCRIPTS.map((script) => `\\p{Script=${script}}`).join("")}]`;
const LETTER = `(?:(?!${UNSPACED})[\\p{L}\\p{N}\\p{M}_])`;

export class Documents {
  /** The first documents are part of the answer, which was asked for nAsked; the search finds further ones. */
  constructor(page, answer, { search, nDocuments: nAsked, tag, words }, { open, mark, order, changed }) {
    this.page = page;
    this.search = search;
    this.tag = tag; // the state of the index that the rows are of
    this.changed = changed;
    this.open = open;
    this.setMark = mark;
    this.mark = highlighter(words);
    this.documents = [];
    this.list = h("ol", { class: "document-list" });
    const more = { type: "button", id: "more", class: "button plain", on: { click: () => this.#turn() } };
    this.more = h("button", more, "More documents");
    this.element = h(
      "section",
      { class: "documents", "aria-labelledby": "documents-title" },
      h("div", { class: "documents-head" }, h("h2", { id: "documents-title", tabindex: "-1" }, "Documents"), documentOrder(page.index, search, order)),
      this.list,
      this.more,
    );
    this.rove = rove(this.list, ".document");
    this.#add(answer.documents);
    this.more.hidden = answer.documents.length < nAsked;
    this.element.hidden = answer.documents.length === 0;
  }

  /** Return the button that opens a document, which gets the focus back. */
  buttonOf(i) {
    return this.list.children[i]?.querySelector("button");
  }

  async #turn() {
    this.more.disabled = true;
    const params = { ...paramsOf(this.search), skip_documents: this.documents.length, n_documents: PAGE };
    try {
      const { documents, more } = await get(pathOf(this.page.index, "topic/documents"), params, { tag: this.tag });
      const first = this.documents.length;
      this.#add(documents);
      this.page.keep({ documents: Math.min(this.documents.length, MAX_RESTORED) });
      this.more.hidden = !more;
      this.buttonOf(first)?.focus({ preventScroll: true });
      this.page.announce(`${documents.length} more documents.`);
    } catch (error) {
      if (error instanceof ApiError && error.code === INDEX_CHANGED) this.changed();
      else this.page.showError(error);
    }
    this.more.disabled = false;
  }

  #add(documents) {
    const start = this.documents.length;
    this.documents.push(...documents);
    this.list.append(...documents.map((each, i) => this.#item(each, start + i)));
    this.rove();
  }

  #item(each, i) {
    const name = h(
      "button",
      { type: "button", class: "document-name", dir: "auto", "data-key": `document ${each.row}`, on: { click: () => this.open(i) } },
      breakable(nameOfDocument(each)),
    );
    const about = { class: "number", title: "How much of the document is about the topic" };
    return h(
      "li",
      { class: "document", "data-row": each.row },
      h("h3", {}, name, h("small", about, `${roughly(each.share)} about it`)),
      dateAndLink(each),
      each.snippet === null ? null : h("p", { class: "snippet small", dir: "auto" }, this.mark(each.snippet)),
      markButtons(nameOfDocument(each), markOf(this.search, each.row), (mark) => this.setMark(each.row, mark), `mark ${each.row}`),
    );
  }
}

/**
 * Create the choice of an order; null for an index without columns to sort by.
 * @param {{columns: {name: string, role: string | null}[]}} index
 * @param {import("./search.js").Search} search
 * @param {(sortBy: string, descending: boolean) => void} choose
 */
function documentOrder({ columns }, search, choose) {
  const orders = columns.flatMap(({ name, role }) => (ORDERS[role ?? ""] ?? []).map(([label, isFalling]) => ({ name, label, isFalling })));
  if (orders.length === 0) return null;
  const option = ({ name, label, isFalling }, i) =>
    h("option", { value: i, selected: name === search.sort_by && isFalling === search.descending }, `${name}, ${label}`);
  const change = (event) => {
    const chosen = orders[event.target.selectedIndex - 1];
    choose(chosen?.name ?? "", chosen?.isFalling ?? false);
  };
  return h(
    "select",
    { id: "document-order", "aria-label": "Order of the documents", "data-key": "document order", on: { change } },
    h("option", { value: "", selected: search.sort_by === "" }, "most about it first"),
    orders.map(option),
  );
}

/**
 * Create the two switches of a document.
 * @param {string} name
 * @param {"yes" | "no" | null} mark how it is marked
 * @param {(mark: "yes" | "no" | null) => void} press
 * @param {string} key names the switches, so that they get the focus back
 */
export function markButtons(name, mark, press, key) {
  const button = (answer) => {
    const { label, title } = ANSWERS[answer];
    const said = `${label}, ${name} is ${answer === "no" ? "not " : ""}about it`;
    const click = () => {
      mark = mark === answer ? null : answer;
      show(); // at once: the answer that follows takes a while
      press(mark);
    };
    return h("button", { type: "button", title, class: `mark ${answer}`, "aria-label": said, "data-key": `${key} ${answer}`, on: { click } }, label);
  };
  const yes = button("yes");
  const no = button("no");
  const show = () => {
    yes.setAttribute("aria-pressed", String(mark === "yes"));
    no.setAttribute("aria-pressed", String(mark === "no"));
  };
  show();
  return h("span", { class: "marks small" }, h("span", { class: "muted" }, "About it?"), yes, no);
}

/** Return a function that splits a text into nodes and marks these words. */
function highlighter(words) {
  const longestFirst = [...new Set(words)].filter(Boolean).sort((a, b) => b.length - a.length);
  if (longestFirst.length === 0) return (text) => [text];
  const pattern = new RegExp(`(?<!${LETTER})(?:${longestFirst.map(escaped).join("|")})(?!${LETTER})`, "giu");
  return (text) => marked(text, pattern);
}

function marked(text, pattern) {
  const nodes = [];
  let end = 0;
  for (const match of text.matchAll(pattern)) {
    nodes.push(text.slice(end, match.index), h("mark", {}, match[0]));
    end = match.index + match[0].length;
  }
  return [...nodes, text.slice(end)].filter((node) => node !== "");
}

function escaped(word) {
  // The blank of a phrase may be a hyphen in the text.
  return word.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&").replaceAll(" ", "[ -]");
}
