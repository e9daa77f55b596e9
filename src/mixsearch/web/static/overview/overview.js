// The overview: the topics of a set of words as a map and as a table.

import { get, Newest, pathOf, queryOf, tagOf } from "../shared/api.js";
import { h, replace } from "../shared/dom.js";
import { count, percent } from "../shared/numbers.js";
import { swapped, withWord } from "../shared/query.js";
import { badgeOf, toneOf } from "../shared/wording.js";
import { OverviewChoice, paramsOf, readChoice, wordsOf } from "./choice.js";
import { DocumentMap } from "./document-map.js";
import { aboutTopic, documentLegend, howToRead, searchOf } from "./legend.js";
import { TopicMap } from "./map.js";

const ASKED_AGAIN = "The index has changed since this map, so it was drawn again.";
// The initial order of each column: numbers descending, words ascending.
const COLUMNS = {
  word: { title: "Word to type", value: ({ words }) => words[0], isFalling: false },
  label: { title: "Distinctive words", value: ({ label }) => label.join(" "), isFalling: false },
  weight: { title: "Share", value: ({ weight }) => weight, isFalling: true },
  verdict: { title: "Verdict", value: ({ separation }) => separation ?? Infinity, isFalling: true },
};

export function show(root, state, page) {
  if (!page.index) {
    replace(root, h("p", { class: "card" }, "This server has no index of documents, so there is nothing to map."));
    return undefined;
  }
  const view = new Overview(root, page);
  view.open(state);
  return { update: (newState) => view.open(newState), close: () => view.close() };
}

class Overview {
  #newest = new Newest();
  /** @type {TopicMap | null} What is drawn. */
  #map = null;
  /** @type {DocumentMap | null} */
  #documents = null;
  isDocuments = false; // whether documents are mapped, or topics

  constructor(root, page) {
    this.page = page;
    this.kinds = ["topics", "documents"].map((kind) =>
      h("button", { type: "button", "data-show": kind, on: { click: () => this.#showKind(kind === "documents") } }, kind === "topics" ? "Topics" : "Documents"),
    );
    this.choice = new OverviewChoice(page, (choice) => this.#change(choice));
    this.summary = h("p", { class: "muted", tabindex: "-1" });
    this.notes = h("div");
    this.found = h("div", { id: "overview", class: "overview" });
    const head = h("div", { class: "overview-head" }, h("h1", {}, "What is ", h("em", {}, page.index.name), " about?"), this.summary);
    const kinds = h("div", { class: "map-kinds" }, h("span", { class: "switch", role: "group", "aria-label": "What is mapped" }, this.kinds));
    replace(root, head, h("div", { class: "overview-tools" }, kinds, this.choice.element), this.notes, this.found);
  }

  /** Show the state of an address. */
  open(state) {
    this.isDocuments = state.get("show") === "documents";
    this.choice.set(readChoice(state, this.page.settings));
    this.#ask();
  }

  close() {
    this.choice.close();
    this.#newest.stop();
    this.#map?.close();
    this.#documents?.close();
  }

  get #asked() {
    const choice = this.choice.value;
    return choice.words ? { words: wordsOf(choice.words) } : { n: choice.n, by: choice.by };
  }

  #paramsOf(choice) {
    return { ...paramsOf(choice), show: this.isDocuments ? "documents" : null };
  }

  #showKind(isDocuments) {
    if (isDocuments === this.isDocuments) return;
    this.isDocuments = isDocuments;
    this.page.note(this.#paramsOf(this.choice.value), { push: true });
    this.#ask();
  }

  #change(choice) {
    const isOther = addressOf(choice) !== addressOf(this.choice.value);
    this.page.note(this.#paramsOf(choice), { push: isOther });
    this.choice.set(choice);
    this.#ask();
  }

  /** Use a suggestion. Its button disappears, so the focus moves to the summary. */
  #suggest(words) {
    this.#change({ ...this.choice.value, words });
    this.summary.focus();
  }

  async #ask({ isFresh = false } = {}) {
    const choice = this.choice.value;
    this.#wait();
    for (const kind of this.kinds) kind.setAttribute("aria-pressed", String((kind.dataset.show === "documents") === this.isDocuments));
    const result = await this.#newest.ask((signal) => get(pathOf(this.page.index, "overview"), this.#asked, { signal, isFresh }));
    if (result === null) return;
    this.found.removeAttribute("aria-busy");
    if (result.error) this.#fail(result.error);
    else this.#show(result.answer, choice, isFresh);
  }

  /** Draw the map again, since its rows are of an index that has changed. */
  #askAgain() {
    this.page.showError(new Error(ASKED_AGAIN));
    this.#ask({ isFresh: true });
  }

  /** Dim the previous map; before the first one, show a placeholder. */
  #wait() {
    this.found.setAttribute("aria-busy", "true");
    if (this.#map) return;
    this.summary.textContent = "Searching for the topics of some words …";
    replace(this.found, h("div", { class: "skeleton map-skeleton" }), h("div", { class: "skeleton panel-skeleton" }));
  }

  #fail(error) {
    this.#forget();
    this.summary.textContent = "No topic was found for these words.";
    const words = error.suggestions ?? [];
    const chip = (word) => h("li", {}, h("button", { type: "button", class: "chip suggestion", on: { click: () => this.#suggest(withWord("", word)) } }, word));
    const again = h("button", { type: "button", class: "button", on: { click: () => this.#ask() } }, "Try again");
    const other = h("button", { type: "button", class: "button plain", on: { click: () => this.#change({ ...this.choice.value, words: "", by: "distinctive" }) } }, "Map the distinctive words instead");
    replace(
      this.found,
      h(
        "section",
        { id: "trouble", class: "card trouble", role: "alert" },
        h("p", {}, error.message),
        words.length > 0 ? [h("h2", {}, "Did you mean"), h("ul", { class: "chips" }, words.map(chip))] : null,
        error.code === "no_connection" || error.status >= 500 ? again : other,
      ),
    );
  }

  #forget() {
    this.#map?.close();
    this.#documents?.close();
    this.#map = this.#documents = null;
    replace(this.notes);
  }

  #show(found, choice, isFresh) {
    this.#forget();
    this.summary.textContent = summaryOf(found, choice);
    replace(this.notes, this.#skipped(found.skipped));
    if (this.isDocuments) {
      this.#showDocuments(found, isFresh);
      return;
    }
    const reading = h("div", { class: "reading" }, howToRead(found.topics));
    const point = (place) => replace(reading, place === null ? howToRead(found.topics) : aboutTopic(found.topics, place));
    const map = new TopicMap(found.topics, { page: this.page, pointed: point, caption: this.#captionOf(found) });
    this.#map = map;
    const table = new TopicTable(found.topics, { page: this.page, pointed: (place) => map.point(place) });
    const title = h("h2", { id: "table-title", tabindex: "-1" }, "The same as a table");
    const skip = h("button", { type: "button", class: "button plain skip", on: { click: () => title.focus() } }, "Skip the map");
    replace(
      this.found,
      h("section", { class: "card map-card", "aria-label": "Map" }, skip, map.element),
      h("aside", { class: "card", "aria-label": "About the map" }, reading),
      h("section", { class: "card table-card", "aria-labelledby": "table-title" }, title, table.element),
    );
    map.draw();
    this.page.announce(this.summary.textContent);
  }

  #showDocuments(found, isFresh) {
    const { topics } = found;
    const map = new DocumentMap(topics, this.page, { tag: tagOf(found), changed: () => this.#askAgain() });
    this.#documents = map;
    replace(
      this.found,
      h("section", { class: "card map-card", "aria-label": "Map" }, map.element),
      h("aside", { class: "card", "aria-label": "About the map" }, documentLegend(topics, { page: this.page, pointed: (place) => map.point(place) })),
    );
    map.load(this.#asked, isFresh);
  }

  #captionOf({ topics }) {
    const signs = ["Area: share of the corpus", "Color: alike", "Dashed: doubtful."];
    return { full: `${count(topics.length, "topic")} of ${this.page.index.name}. ${signs.join(". ")}`, short: signs.join(" · ") };
  }

  #skipped(skipped) {
    if (skipped.length === 0) return null;
    return h("ul", { class: "notes small", "aria-label": "Notes" }, skipped.map((each) => this.#skippedNote(each)));
  }

  #skippedNote({ word, message, suggestions }) {
    const swap = (other) => this.#suggest(swapped(this.choice.value.words, word, other));
    const chip = (other) => [h("button", { type: "button", class: "chip suggestion", on: { click: () => swap(other) } }, other), " "];
    if (suggestions.length === 0) return h("li", { class: "skipped" }, message);
    return h("li", { class: "skipped" }, h("b", {}, word), " is not in the corpus and was left out. Did you mean ", suggestions.map(chip));
  }
}

function addressOf(choice) {
  return queryOf(paramsOf(choice)).toString();
}

function summaryOf({ topics, n_documents: nDocuments }, { words, by }) {
  const n = topics.reduce((sum, topic) => sum + topic.words.length, 0);
  const kind = words ? "" : `${by} `;
  return `${count(n, `${kind}word`)} lead to ${count(topics.length, "topic")} in ${count(nDocuments, "document")}. Choose one to see its words and documents.`;
}

/** The topics of the overview as a sortable table. */
class TopicTable {
  constructor(topics, { page, pointed }) {
    this.page = page;
    this.rows = topics.map((topic, place) => ({ topic, element: this.#row(topic, topics, () => pointed(place)) }));
    this.heads = Object.entries(COLUMNS).map(([column, { title }]) =>
      h("th", { scope: "col", role: "columnheader", "data-column": column }, h("button", { type: "button", on: { click: () => this.#press(column) } }, title)),
    );
    // Explicit roles: on a phone the style sheet lays the elements out as blocks.
    this.body = h("tbody", { role: "rowgroup", on: { pointerleave: () => pointed(null) } });
    const last = h("th", { scope: "col", role: "columnheader", class: "near-words" }, "Shares most with");
    const head = h("thead", { role: "rowgroup" }, h("tr", { role: "row" }, this.heads, last));
    this.element = h("table", { id: "topic-table", role: "table", "aria-labelledby": "table-title" }, head, this.body);
    this.#sort("weight", true);
  }

  #press(column) {
    const isFalling = this.column === column ? !this.isFalling : COLUMNS[column].isFalling;
    this.#sort(column, isFalling);
    this.page.announce(`Sorted by ${COLUMNS[column].title.toLowerCase()}, ${isFalling ? "falling" : "rising"}.`);
  }

  #sort(column, isFalling) {
    this.column = column;
    this.isFalling = isFalling;
    const sign = isFalling ? -1 : 1;
    const { value } = COLUMNS[column];
    const sorted = [...this.rows].sort((one, other) => sign * compare(value(one.topic), value(other.topic)));
    replace(this.body, sorted.map(({ element }) => element));
    for (const head of this.heads) {
      if (head.dataset.column === column) head.setAttribute("aria-sort", isFalling ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    }
  }

  #row(topic, topics, pointed) {
    const [first, ...others] = topic.words;
    const open = h("a", { href: this.page.addressOf("topics", { q: searchOf(topic) }), on: { click: (event) => this.page.follow(event, "topics", { q: searchOf(topic) }) } }, first);
    return h(
      "tr",
      { role: "row", on: { pointerenter: pointed } },
      h("th", { scope: "row", role: "rowheader" }, open, others.length > 0 ? h("span", { class: "others small" }, ` ${others.join(", ")}`) : null),
      h("td", { role: "cell", class: "typical" }, topic.label.join(", ")),
      h("td", { role: "cell", class: "number" }, percent(topic.weight)),
      h("td", { role: "cell" }, h("span", { class: `verdict ${toneOf(topic)}` }, badgeOf(topic))),
      h("td", { role: "cell", class: "near-words small muted" }, topic.near.map(({ topic: other, overlap }) => `${topics[other].words[0]} ${percent(overlap)}`).join(", ")),
    );
  }
}

function compare(one, other) {
  if (typeof one === "string") return one.localeCompare(other);
  return one === other ? 0 : one - other;
}
