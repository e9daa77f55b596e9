// Saved topics at the side: opened by their names, renamed, annotated, exported and imported.

import { h, replace } from "../shared/dom.js";
import { saveText } from "../shared/download.js";
import { count } from "../shared/numbers.js";
import { rove } from "../shared/roving.js";
import { exportSaved, importSaved, onSaved, removeSaved, savedOf, saveTopic } from "../shared/saved.js";

const MAX_NAME = 120;
const MAX_NOTE = 2000;

export class SavedTopics {
  /** @type {string | null} The topic whose name and note are being changed. */
  #edited = null;

  /** Calls chosen(query string) when a topic is clicked. */
  constructor(page, { chosen }) {
    this.page = page;
    this.chosen = chosen;
    this.list = h("ol", { class: "trail-steps" });
    this.rove = rove(this.list, ".saved-topic");
    this.file = h("input", {
      type: "file",
      accept: ".json,application/json",
      class: "visually-hidden",
      tabindex: "-1",
      "aria-label": "File of saved topics",
      on: { change: () => this.#import() },
    });
    this.export = h("button", { type: "button", class: "link small", on: { click: () => this.#export() } }, "export");
    const load = h("button", { type: "button", class: "link small", on: { click: () => this.file.click() } }, "import");
    this.element = h(
      "details",
      { id: "saved", class: "trail saved", open: matchMedia("(min-width: 821px)").matches },
      h("summary", {}, "Saved topics"),
      this.list,
      h("div", { class: "saved-files" }, this.export, load, this.file),
    );
    this.close = onSaved(() => this.#show());
    this.#show();
  }

  /** Whether the panel is there if nothing is saved yet. */
  set isOffered(isOffered) {
    this.element.hidden = !isOffered && savedOf(this.page.index).length === 0;
  }

  /** Ask for the name and a note of a topic that was saved. */
  edit(search) {
    this.#edited = search;
    this.element.open = true;
    this.#show();
    this.list.querySelector("input")?.focus();
    this.list.querySelector("input")?.select();
  }

  #show() {
    const topics = savedOf(this.page.index);
    this.export.hidden = topics.length === 0;
    replace(this.list, topics.map((topic) => h("li", { "data-search": topic.search }, topic.search === this.#edited ? this.#form(topic) : this.#entry(topic))));
    this.rove();
  }

  #entry({ search, name, note, words }) {
    const edit = { type: "button", class: "tool", title: "Rename or annotate", "aria-label": `Rename or annotate ${name}`, on: { click: () => this.edit(search) } };
    const remove = { type: "button", class: "tool", title: "Remove", "aria-label": `Remove ${name}`, on: { click: () => removeSaved(this.page.index, search) } };
    return h(
      "div",
      { class: "saved-topic" },
      h(
        "button",
        { type: "button", class: "step", on: { click: () => this.chosen(search) } },
        h("span", {}, name),
        h("small", {}, words),
        note ? h("small", { class: "note" }, note) : null,
      ),
      h("button", edit, "✎"),
      h("button", remove, "×"),
    );
  }

  #form({ search, name, note }) {
    const label = h("input", { type: "text", value: name, maxlength: MAX_NAME, "aria-label": "Name of the topic" });
    const text = h("textarea", { rows: 3, maxlength: MAX_NOTE, placeholder: "Notes", "aria-label": "Notes on the topic" }, note);
    const leave = () => {
      this.#edited = null;
      this.#show();
      /** @type {HTMLElement | null} */ (this.list.querySelector(`[data-search="${CSS.escape(search)}"] .step`))?.focus();
    };
    const submit = (event) => {
      event.preventDefault();
      saveTopic(this.page.index, { search, name: label.value.trim() || name, note: text.value.trim() });
      leave();
      this.page.announce("Saved.");
    };
    const keydown = (event) => {
      if (event.key === "Escape") leave();
    };
    return h("form", { class: "saved-form", on: { submit, keydown } }, label, text, h("button", { class: "button" }, "Save"));
  }

  #export() {
    saveText(exportSaved(this.page.index), `${this.page.index.name}-saved-topics.json`, "application/json");
  }

  async #import() {
    const [file] = this.file.files ?? [];
    this.file.value = "";
    if (!file) return;
    try {
      const n = importSaved(this.page.index, await file.text());
      this.page.announce(`${count(n, "topic")} imported.`);
    } catch (error) {
      this.page.showError(error);
    }
  }
}
