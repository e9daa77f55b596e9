// Tables: rows in a plane, and the group that a few of them mean.

import { ApiError, get } from "../shared/api.js";
import { h, replace } from "../shared/dom.js";
import { fileDrop } from "../shared/file-drop.js";
import { Newest } from "../shared/newest.js";
import { whole } from "../shared/numbers.js";
import { downloads, membersAnswer } from "./answers.js";
import { controls } from "./controls.js";
import { drawingOf, otherIndices } from "./drawing.js";
import { Plot } from "./plot.js";
import { examples, rowForm, rowTable, shown } from "./rows.js";
import { MAX_LIKE, paramsOf, stateOf, withRows } from "./state.js";

const EXAMPLE = "example";
const MAX_VALUES = 6;

export function show(root, params, page) {
  const view = new TableView(root, page);
  view.update(params);
  return { update: (next) => view.update(next), close: () => view.close() };
}

class TableView {
  #newest = new Newest();
  #pointed = new Newest();
  /** @type {any} */
  #info = null;
  /** @type {{key: string, points: any, frame: any}} */
  #plane = { key: "", points: null, frame: null };
  #turn = 0;

  constructor(root, page) {
    this.root = root;
    this.page = page;
    this.state = stateOf(new URLSearchParams());
    this.controls = h("div");
    this.marked = h("div", { class: "table-marked" });
    this.pointed = h("p", { class: "table-pointed small muted" });
    this.answer = h("section", { class: "card table-answer", "aria-label": "Answer" });
    this.rows = h("section", { class: "card table-more", "aria-label": "Rows", hidden: true });
    this.plot = new Plot({ choose: (rows, isUnlike) => this.#choose(rows, isUnlike), point: (row, byKey) => this.#describe(row, byKey) });
    this.act = {
      choose: (rows, isUnlike) => this.#choose(rows, isUnlike),
      replace: (rows) => this.#change({ like: rows, notLike: [] }),
      clear: () => this.#change({ like: [], notLike: [] }),
    };
  }

  close() {
    this.#newest.stop();
    this.#pointed.stop();
    this.plot.close();
  }

  async update(params) {
    const mine = ++this.#turn;
    this.state = stateOf(params);
    if (this.state.table === "") {
      this.#invite();
      return;
    }
    try {
      if (this.#info?.table !== this.state.table) {
        this.#wait();
        this.#info = await get(this.#path(""));
        this.#plane.key = "";
        if (mine !== this.#turn) return;
        this.#build();
      }
      this.#complete();
      await this.#show(mine);
    } catch (error) {
      if (mine !== this.#turn) return;
      if (error instanceof ApiError && error.code === "gone") this.#invite();
      this.page.showError(error);
    }
  }

  #path(rest) {
    return `api/tables/${encodeURIComponent(this.state.table)}${rest}`;
  }

  // Layout

  #invite() {
    this.#info = null;
    const example = { type: "button", class: "button plain", on: { click: () => this.page.go("table", { table: EXAMPLE }) } };
    const button = h("button", example, "Try the example");
    const title = "Find rows like a few of them";
    const instead = h("section", { class: "card" }, h("h1", {}, title), h("p", {}, "This server accepts no files, but has an example."), button);
    replace(this.root, this.page.settings.accepts_files ? fileDrop(this.page, title, button) : instead);
  }

  #wait() {
    replace(this.root, h("p", { class: "muted", role: "status" }, "Reading the table"));
  }

  #build() {
    const { name, n_rows: n, columns, warnings } = this.#info;
    document.title = `${name} · mixsearch`;
    replace(
      this.root,
      h("div", { class: "table-head" }, h("h1", { dir: "auto" }, name), h("p", { class: "muted" }, `${whole(n)} rows, ${columns.length} columns`)),
      warnings.map(({ message }) => h("p", { class: "small muted" }, message)),
      this.controls,
      h("div", { class: "table-view" }, h("div", { class: "card" }, this.plot.element, this.pointed, this.marked), this.answer, this.rows),
    );
  }

  // State

  /** Draw the best view if the axes are not columns of this table. */
  #complete() {
    const { state } = this;
    const names = this.#info.columns.filter(({ kind, is_numeric: isNumeric }) => isNumeric || kind === "date").map(({ name }) => name);
    if (!names.includes(state.x) || !names.includes(state.y)) Object.assign(state, { x: "", y: "" });
  }

  #choose(rows, isUnlike) {
    const step = Math.ceil(rows.length / MAX_LIKE);
    this.#change(withRows(this.state, rows.filter((_, i) => i % step === 0), isUnlike));
  }

  #change(part) {
    this.page.go("table", paramsOf({ ...this.state, ...part }));
  }

  // Requests and answers

  async #show(mine) {
    const { state } = this;
    replace(this.controls, controls(this.#info, state, (part) => this.#change(part)));
    replace(this.marked, rowForm(this.act), examples(state, this.act));
    await this.#loadPlane();
    if (mine !== this.#turn) return;
    if (state.like.length === 0) {
      this.#draw(null);
      this.#showRows([]);
      replace(this.answer, h("h2", {}, "Rows like these"), h("p", {}, "Click a few rows of a group, or draw a line around them. The rows like them light up."), h("p", { class: "small muted" }, "Shift-click marks a row that is not like them. On a keyboard, arrow keys go from row to row in the plot, and Enter marks one."));
      return;
    }
    this.answer.setAttribute("aria-busy", "true");
    const result = await this.#newest.ask((signal) => get(this.#path("/members"), this.#question, { signal }));
    if (result === null || mine !== this.#turn) return;
    this.answer.removeAttribute("aria-busy");
    if (result.error) {
      this.#draw(null);
      this.#showRows([]);
      replace(this.answer, h("h2", {}, "No answer"), h("p", {}, result.error.message));
      this.page.announce(result.error.message);
    } else {
      this.#draw(result.answer);
      this.#showAnswer(result.answer);
    }
  }

  get #question() {
    const { like, notLike, columns } = this.state;
    return { like, columns, not_like: notLike };
  }

  /** Get the rows in the plane of the axes; the frame has the groups of a table too. */
  async #loadPlane() {
    const { x, y, columns } = this.state;
    const key = JSON.stringify([x, y, columns]);
    if (key === this.#plane.key) return;
    const [frame, points] = await Promise.all([
      get(this.#path("/frame"), { columns }),
      x === "" ? null : get(this.#path("/points"), { x, y }),
    ]);
    this.#plane = { key, frame, points: points ?? frame };
  }

  #draw(found) {
    const { points, frame } = this.#plane;
    this.plot.show(drawingOf(this.#info, this.state, { points, frame, found }));
  }

  #showAnswer(found) {
    const { frame } = this.#plane;
    const groups = otherIndices(frame, found).map((k) => frame.groups[k]);
    replace(this.answer, membersAnswer(found, groups, this.act), downloads(this.#path("/members"), this.#question));
    this.#showRows(found.answer.typical_rows);
    this.page.announce(`About ${whole(found.answer.n_members.n)} rows.`);
  }

  /** Show rows below the plot, where there is room for their columns. */
  #showRows(rows) {
    this.rows.hidden = rows.length === 0;
    replace(this.rows, rowTable("Typical rows", rows));
  }

  /** Show the values of the row that is pointed at; read them out if a key did it. */
  async #describe(row, byKey = false) {
    this.pointed.textContent = row === null ? "" : `Row ${row}`;
    if (row === null) {
      this.#pointed.stop();
      return;
    }
    const result = await this.#pointed.ask((signal) => get(this.#path("/rows"), { row }, { signal }));
    if (!result?.answer) return;
    const values = Object.entries(result.answer.rows[0].values).slice(0, MAX_VALUES);
    this.pointed.textContent = `Row ${row}: ${values.map(([name, value]) => `${name} ${shown(value)}`).join(", ")}`;
    if (byKey) this.page.announce(this.pointed.textContent);
  }
}
