// The topics of the overview as a sortable table.

import { h, replace } from "../shared/dom.js";
import { percent } from "../shared/numbers.js";
import { openTopic, queryOf } from "./topic.js";
import { badgeOf, toneOf } from "../shared/verdicts.js";

// The initial order of each column: numbers descending, words ascending.
const COLUMNS = {
  word: { title: "Word to type", value: ({ words }) => words[0], isFalling: false },
  label: { title: "Distinctive words", value: ({ label }) => label.join(" "), isFalling: false },
  weight: { title: "Share", value: ({ weight }) => weight, isFalling: true },
  verdict: { title: "Verdict", value: ({ separation }) => separation ?? Infinity, isFalling: true },
};

export class TopicTable {
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
    const open = h("a", { href: this.page.addressOf("topics", { q: queryOf(topic) }), on: { click: (event) => openTopic(event, this.page, topic) } }, first);
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
