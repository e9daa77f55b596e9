// Topics that the user has saved under a name, with notes: kept in the browser, and listed at the side.

import { remember, rememberedList } from "../shared/browser.js";
import { h, replace } from "../shared/dom.js";
import { rove } from "../shared/roving.js";

const MAX_NAME = 120;
const MAX_NOTE = 2000;
const MAX_TOPICS = 500;
const TEXTS = ["search", "name", "note", "words"];

/** Saved topics at the side: opened by their names, renamed and annotated. */
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
    window.addEventListener("storage", this.#show);
    this.#show();
  }

  close() {
    window.removeEventListener("storage", this.#show);
  }

  /** Ask for the name and a note of a topic that was saved. */
  edit(search) {
    this.#edited = search;
    this.element.open = true;
    this.#show();
    this.list.querySelector("input")?.focus();
    this.list.querySelector("input")?.select();
  }

  #show = () => {
    const topics = savedOf(this.page.index);
    this.element.hidden = topics.length === 0;
    replace(this.list, topics.map((topic) => h("li", { "data-search": topic.search }, topic.search === this.#edited ? this.#form(topic) : this.#entry(topic))));
    this.rove();
  };

  #entry({ search, name, note, words }) {
    const edit = { type: "button", class: "tool", title: "Rename or annotate", "aria-label": `Rename or annotate ${name}`, on: { click: () => this.edit(search) } };
    const remove = { type: "button", class: "tool", title: "Remove", "aria-label": `Remove ${name}`, on: { click: () => keep(this.page.index, savedOf(this.page.index).filter((each) => each.search !== search)) } };
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

/**
 * @typedef {object} SavedTopic
 * @property {string} search its query string
 * @property {string} name
 * @property {string} note
 * @property {string} words
 */

/** @returns {SavedTopic[]} */
export function savedOf(index) {
  return rememberedList("localStorage", nameOf(index)).filter((topic) => TEXTS.every((name) => typeof topic?.[name] === "string"));
}

/** Save a topic, or change what was saved of it. The newest come first. */
export function saveTopic(index, topic) {
  const saved = savedOf(index);
  const known = saved.find(({ search }) => search === topic.search);
  const changed = { note: "", ...known, ...topic };
  keep(index, known ? saved.map((each) => (each === known ? changed : each)) : [changed, ...saved]);
}

function keep(index, topics) {
  remember("localStorage", nameOf(index), topics.slice(0, MAX_TOPICS));
  window.dispatchEvent(new Event("storage")); // as other tabs that save get it
}

function nameOf(index) {
  return `saved:${index.name}`;
}
