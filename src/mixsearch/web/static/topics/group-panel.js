// A topic over time, or by group: a column of the documents is chosen, and the shares of its groups are drawn.

import { get, INDEX_CHANGED, Newest, pathOf, queryOf, url } from "../shared/api.js";
import { h, replace } from "../shared/dom.js";

const TITLES = { over: "Over time", by: "By group" };
const ROLES = { over: ["date"], by: ["category", "number"] };

/** Create the panels for which the index has columns. */
export function groupPanels(page, act) {
  return /** @type {("over" | "by")[]} */ (["over", "by"])
    .map((kind) => new GroupPanel(page, kind, act))
    .filter(({ columns }) => columns.length > 0);
}

class GroupPanel {
  #newest = new Newest();
  /** @type {Record<string, any> | null} The topic that is shown. */
  #params = null;
  /** @type {string | null} The state of the index that it is of. */
  #tag = null;

  /** @param {any} page @param {"over" | "by"} kind @param {any} act */
  constructor(page, kind, act) {
    this.page = page;
    this.kind = kind;
    this.act = act;
    this.columns = ROLES[kind].flatMap((role) => page.index.columns.filter((column) => column.role === role));
    this.choice = h(
      "select",
      { "aria-label": `Column: ${TITLES[kind]}`, on: { change: () => this.#choose() } },
      this.columns.map(({ name }) => h("option", { value: name }, name)),
    );
    this.body = h("div", { class: "group-body" });
    this.file = h("a", { class: "small", download: "" }, "CSV");
    this.element = h(
      "section",
      { class: `card group-panel ${kind}`, "aria-labelledby": `${kind}-title`, hidden: true },
      h("div", { class: "panel-head" }, h("h2", { id: `${kind}-title` }, TITLES[kind]), this.choice, this.file),
      this.body,
    );
  }

  /** Show the topic with these parameters. */
  show(params, tag) {
    this.#params = params;
    this.#tag = tag;
    return this.#ask();
  }

  /** Mark what is drawn as that of the topic before. */
  wait() {
    this.#newest.stop();
    this.body.classList.add("is-waiting");
  }

  async #choose() {
    const error = await this.#ask();
    if (error?.code === INDEX_CHANGED) this.act.changed();
  }

  /** Draw the groups; return the error if there are none. */
  async #ask() {
    if (this.#params === null) return null;
    const params = { topic: queryOf(this.#params).toString(), [this.kind]: this.choice.value, where: this.#params.where };
    this.file.href = url(pathOf(this.page.index, "topic/groups.csv"), params);
    const [result, chart] = await Promise.all([
      this.#newest.ask((signal) => get(pathOf(this.page.index, "topic/groups"), params, { signal, tag: this.#tag })),
      import("./group-chart.js").catch(() => null), // the first answer is there before any chart; no server, no chart
    ]);
    if (result === null || chart === null) return null;
    this.element.hidden = false;
    this.body.classList.remove("is-waiting");
    replace(this.body, result.error ? h("p", { class: "small muted" }, result.error.message) : chart.drawGroups(this.kind, result.answer, this.act));
    return result.error ?? null;
  }
}
