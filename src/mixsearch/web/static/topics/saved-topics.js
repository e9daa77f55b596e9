// Saved topics at the side: opened by their names, renamed and annotated.

import { h, replace } from "../shared/dom.js";
import { rove } from "../shared/roving.js";
import { onSaved, removeSaved, savedOf, saveTopic } from "../shared/saved.js";

const MAX_NAME = 120;
const MAX_NOTE = 2000;

export class SavedTopics {
  /** @type {string | null} The topic whose name and note are being changed. */
  #edited = null;

  /** Calls chosen(query string) when a topic is clicked. */
  constructor(page, { chosen }) {
    this.page = page;
    this.chosen = chosen;
    this.list = h("ol", { class: "saved-list" });
    this.rove = rove(this.list, ".saved-topic");
    this.element = h(
      "details",
      { id: "saved", class: "saved", open: matchMedia("(min-width: 821px)").matches },
      h("summary", {}, "Saved topics"),
      this.list,
    );
    this.close = onSaved(() => this.#show());
    this.#show();
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
    this.element.hidden = topics.length === 0;
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
}
