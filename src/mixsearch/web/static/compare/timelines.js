// Several topics over time, over each other on one axis.

import { get, pathOf, url } from "../shared/api.js";
import { BandChart } from "../shared/band-chart.js";
import { h, replace } from "../shared/dom.js";
import { Newest } from "../shared/newest.js";

export class Timelines {
  #newest = new Newest();

  /** @param {any} page @param {string[]} topics query strings @param {string[]} names */
  constructor(page, topics, names) {
    this.page = page;
    this.topics = topics;
    this.names = names;
    const columns = page.index.columns.filter(({ role }) => role === "date");
    this.choice = h("select", { "aria-label": "Column: Over time", on: { change: () => this.#ask() } }, columns.map(({ name }) => h("option", { value: name }, name)));
    this.body = h("div", { class: "group-body" });
    this.file = h("a", { class: "small", download: "mixsearch.csv" }, "CSV");
    this.element = h(
      "section",
      { class: "card group-panel over", "aria-labelledby": "timelines-title", hidden: columns.length === 0 },
      h("div", { class: "panel-head" }, h("h2", { id: "timelines-title" }, "Over time"), this.choice, this.file),
      this.body,
    );
    if (columns.length > 0) this.#ask();
  }

  close() {
    this.#newest.stop();
  }

  async #ask() {
    const params = { topic: this.topics, over: this.choice.value };
    this.file.href = url(pathOf(this.page.index, "topic/groups.csv"), params);
    const result = await this.#newest.ask((signal) => get(pathOf(this.page.index, "topic/groups"), params, { signal }));
    if (result === null) return;
    const chart = result.error ? h("p", { class: "small muted" }, result.error.message) : this.#draw(result.answer);
    replace(this.body, chart);
  }

  #draw({ topics }) {
    const legend = this.names.map((name, i) => h("li", { class: `series-${i}` }, h("i", { class: "series-key", "aria-hidden": "true" }), " ", name));
    const series = topics.map(({ groups }) => groups);
    return [new BandChart(series, `Shares over time of ${this.names.join(", ")}. The CSV has the numbers.`).element, h("ul", { class: "line-legend small" }, legend)];
  }
}
