// Typical documents of a topic, page by page.

import { ApiError, get, INDEX_CHANGED, pathOf } from "../shared/api.js";
import { breakable, dateAndLink, nameOfDocument } from "../shared/document-facts.js";
import { documentOrder } from "./document-order.js";
import { h } from "../shared/dom.js";
import { highlighter } from "./highlight.js";
import { markButtons } from "./mark-buttons.js";
import { roughly } from "../shared/numbers.js";
import { rove } from "../shared/roving.js";
import { markOf, paramsOf } from "./search.js";

export const PAGE = 10;
// As many documents an answer may have.
const MAX_RESTORED = 100;

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
