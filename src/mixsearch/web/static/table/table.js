// Tables: rows in a plane, and the group that a few of them mean.

import { ApiError, get, Newest } from "../shared/api.js";
import { h, replace } from "../shared/dom.js";
import { fileDrop } from "../shared/files.js";
import { whole } from "../shared/numbers.js";
import { downloads, examples, membersAnswer, rowForm, rowTable, shown } from "./answers.js";
import { drawingOf } from "./drawing.js";
import { Plot } from "./plot.js";

const EXAMPLE = "example";
const MAX_VALUES = 6;
// More examples than this say no more, and make the address too long.
export const MAX_LIKE = 60;

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
  /** @type {{key: string, points: any}} */
  #plane = { key: "", points: null };
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
    return { examples: like, columns, not_examples: notLike };
  }

  /** Get the rows in the plane of the axes. */
  async #loadPlane() {
    const { x, y, columns } = this.state;
    const key = JSON.stringify([x, y, columns]);
    if (key === this.#plane.key) return;
    const points = await (x === "" ? get(this.#path("/frame"), { columns }) : get(this.#path("/points"), { x, y }));
    this.#plane = { key, points };
  }

  #draw(found) {
    this.plot.show(drawingOf(this.#info, this.state, { points: this.#plane.points, found }));
  }

  #showAnswer(found) {
    replace(this.answer, membersAnswer(found), downloads(this.#path("/members"), this.#question));
    this.#showRows(found.answer.typical_rows, found.answer.is_probability);
    this.page.announce(found.answer.n_members === null ? "Rows are ranked." : `About ${whole(found.answer.n_members)} rows.`);
  }

  /** Show rows below the plot, where there is room for their columns. */
  #showRows(rows, isProbability = true) {
    this.rows.hidden = rows.length === 0;
    replace(this.rows, rowTable("Typical rows", rows, isProbability));
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

/** Create the controls; change(part) is called with what is new. */
export function controls(info, state, change) {
  return h("div", { class: "table-controls" }, axisMenus(info, state, change), columnBoxes(info, state, change));
}

function axisMenus(info, state, change) {
  const usable = info.columns.filter(({ kind }) => kind === "number" || kind === "date");
  const select = (name, label) => {
    const element = h(
      "select",
      { id: `axis-${name}`, on: { change: () => change(chosen(state, name, element.value, usable)) } },
      h("option", { value: "" }, "Best view"),
      usable.map((column) => h("option", { value: column.name }, column.name)),
    );
    element.value = state[name];
    return h("label", {}, label, element);
  };
  return h("div", { class: "toolbar" }, select("x", "Across"), select("y", "Up"));
}

/** Return the axes after one has changed: both are columns, or neither. */
function chosen(state, name, value, usable) {
  const other = name === "x" ? "y" : "x";
  if (value === "") return { x: "", y: "" };
  const free = usable.find((column) => column.name !== value)?.name ?? value;
  return { [name]: value, [other]: state[other] === "" || state[other] === value ? free : state[other] };
}

function columnBoxes(info, state, change) {
  const usable = info.columns.filter(({ kind }) => !["empty", "other"].includes(kind));
  const boxes = usable.map(({ name }) => {
    const input = h("input", { type: "checkbox", value: name });
    input.checked = state.columns.length === 0 || state.columns.includes(name);
    return input;
  });
  const apply = () => {
    const marked = boxes.filter(({ checked }) => checked).map(({ value }) => value);
    change({ columns: marked.length === usable.length ? [] : marked });
  };
  const count = state.columns.length > 0 ? ` (${state.columns.length} of ${usable.length})` : "";
  return h(
    "details",
    { class: "table-columns" },
    h("summary", {}, `Columns that count${count}`),
    h("div", { class: "boxes" }, boxes.map((box) => h("label", {}, box, h("span", { dir: "auto" }, box.value)))),
    h("button", { type: "button", class: "button plain", on: { click: apply } }, "Use these columns"),
  );
}

/** @typedef {{table: string, like: number[], notLike: number[], columns: string[], x: string, y: string}} State */

/** @param {URLSearchParams} params @returns {State} */
function stateOf(params) {
  return {
    table: params.get("table") ?? "",
    like: rowsOf(params.getAll("examples")),
    notLike: rowsOf(params.getAll("not_examples")),
    columns: params.getAll("columns"),
    x: params.get("x") ?? "",
    y: params.get("y") ?? "",
  };
}

/** @param {State} state */
export function paramsOf({ table, like, notLike, columns, x, y }) {
  return { table, examples: like, not_examples: notLike, columns, x, y };
}

/** Add rows as examples or counterexamples; a row that is one already is taken out if it comes alone. */
function withRows(state, rows, isUnlike) {
  const name = isUnlike ? "notLike" : "like";
  const other = isUnlike ? "like" : "notLike";
  const isRemoved = rows.length === 1 && state[name].includes(rows[0]);
  const kept = state[name].filter((row) => !rows.includes(row));
  const all = isRemoved ? kept : [...kept, ...rows].slice(-MAX_LIKE);
  return { ...state, [name]: all, [other]: state[other].filter((row) => !all.includes(row)) };
}

function rowsOf(texts) {
  return [...new Set(texts.filter((text) => /^\d{1,15}$/.test(text)).map(Number))];
}
