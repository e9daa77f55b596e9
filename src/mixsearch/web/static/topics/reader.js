// A dialog with one full document.

import { get, INDEX_CHANGED, Newest, pathOf } from "../shared/api.js";
import { copyText } from "../shared/browser.js";
import { breakable, dateAndLink, nameOfDocument, otherColumns } from "../shared/document-facts.js";
import { h, replace } from "../shared/dom.js";
import { roughly } from "../shared/numbers.js";
import { markButtons } from "./documents.js";
import { markOf } from "./search.js";

export class Reader {
  #newest = new Newest();
  #titleBefore = "";
  #marks = new Map(); // row -> how it was marked here; the answer follows when the dialog is closed

  /** Calls like(row) to search for similar documents, mark([[row, mark], ...]) when some were marked, changed() if the list is of an index that has changed. */
  constructor(page, { like, mark, changed }) {
    this.page = page;
    this.changed = changed;
    this.setMarks = mark;
    this.title = h("h2", { id: "reader-title" });
    this.about = h("p", { class: "small muted" });
    this.facts = h("div", {});
    this.text = h("div", { class: "reader-text", tabindex: "0", role: "document" });
    this.before = button("previous", "← Previous", () => this.#turn(-1));
    this.after = button("next", "Next →", () => this.#turn(1));
    this.copy = button("copy-document", "Copy", () => copyText(page, this.text.textContent, this.copy));
    this.marks = h("span", {});
    const close = button("close-reader", "×", () => this.element.close(), "button plain icon", "Close");
    this.element = h(
      "dialog",
      { id: "reader", class: "reader", "aria-labelledby": "reader-title", on: this.#listeners() },
      h("header", {}, h("div", {}, this.title, this.about, this.facts), close),
      this.text,
      h(
        "footer",
        { class: "toolbar" },
        button("like", "Find more like this", () => this.#like(like), "button"),
        this.copy,
        this.marks,
        h("span", { class: "turning" }, this.before, this.after),
      ),
    );
  }

  /** Open a document of a list. */
  open(documents, i) {
    this.shown = documents;
    this.i = i;
    if (!this.element.open) {
      this.#titleBefore = document.title;
      this.element.showModal();
      this.page.openLayer(() => this.element.close());
    }
    this.#show();
  }

  close() {
    this.#newest.stop();
    if (this.element.open) this.element.close();
  }

  async #show() {
    const found = this.shown.documents[this.i];
    replace(this.title, breakable(nameOfDocument(found)));
    document.title = `${nameOfDocument(found)} · mixsearch`;
    this.about.textContent = `${roughly(found.share)} about this topic`;
    replace(this.facts, dateAndLink(found), otherColumns(found));
    this.#showMarks();
    this.before.disabled = this.i === 0;
    this.after.disabled = this.i === this.shown.documents.length - 1;
    const path = pathOf(this.page.index, `documents/${found.row}`);
    const result = await this.#newest.ask((signal) => get(path, {}, { signal, tag: this.shown.tag }));
    if (result?.error?.code === INDEX_CHANGED) {
      this.#leave();
      this.changed();
      return;
    }
    if (result) replace(this.text, ...this.#body(result));
    this.text.scrollTop = 0;
  }

  #showMarks() {
    const found = this.shown.documents[this.i];
    const mark = this.#marks.has(found.row) ? this.#marks.get(found.row) : markOf(this.shown.search, found.row);
    const press = (answer) => this.#marks.set(found.row, answer);
    replace(this.marks, markButtons(nameOfDocument(found), mark, press, "reader"));
  }

  /** @param {{answer?: any, error?: any}} result */
  #body({ answer, error }) {
    if (error) return [h("p", {}, error.message)];
    if (answer.text === null) return [h("p", { class: "muted" }, "The index keeps no texts.")];
    const cut = answer.is_cut ? h("p", { class: "muted" }, "The rest is left out: the document is very long.") : null;
    return [h("p", { class: "whole", dir: "auto" }, this.shown.mark(answer.text)), cut];
  }

  #turn(step) {
    const i = this.i + step;
    if (i < 0 || i >= this.shown.documents.length) return;
    this.i = i;
    this.#show();
    if (document.activeElement instanceof HTMLButtonElement && document.activeElement.disabled) this.text.focus();
  }

  #listeners() {
    return {
      close: () => this.#closed(),
      click: ({ target }) => target === this.element && this.element.close(), // outside of it
      keydown: (event) => this.#keyed(event),
    };
  }

  #like(like) {
    const { row } = this.shown.documents[this.i];
    this.#leave();
    like(row);
  }

  /** Close the dialog and forget the list, which is about to be replaced. */
  #leave() {
    this.shown = null;
    this.element.close();
    document.title = this.#titleBefore;
  }

  #closed() {
    this.#newest.stop();
    const marks = [...this.#marks];
    this.#marks.clear();
    // A new search takes the place of the entry in the history that closing would take back.
    if (marks.length > 0 && this.shown !== null) this.setMarks(marks);
    this.page.leaveLayer();
    if (this.shown === null) return;
    document.title = this.#titleBefore;
    this.shown.buttonOf(this.i)?.focus({ preventScroll: true });
  }

  #keyed(event) {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (step && !event.altKey && !event.ctrlKey && !event.metaKey) this.#turn(step);
  }
}

/** @param {string} id @param {string} label @param {() => void} click @param {string} [kind] @param {string | null} [name] */
function button(id, label, click, kind = "button plain", name = null) {
  return h("button", { type: "button", id, class: kind, "aria-label": name, on: { click } }, label);
}
