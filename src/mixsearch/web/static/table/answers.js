// The answer about a table, and its rows as lists: examples and typical rows.

import { url } from "../shared/api.js";
import { breakable } from "../shared/document-facts.js";
import { h } from "../shared/dom.js";
import { chance, count, percent, plain, whole } from "../shared/numbers.js";

const MAX_COLUMNS = 10;
const MAX_VALUES = 4;
// A word of more letters than this is broken, so that it does not take the room of all other columns.
const MAX_LETTERS = 20;

/** @param {any} found */
export function membersAnswer(found) {
  const { answer } = found;
  return [
    h("h2", {}, answer.n_members === null ? "Rows like these" : `About ${whole(answer.n_members)} rows like these`),
    h("p", {}, sentence(answer.check)),
    answer.n_members === null && h("p", { class: "small muted" }, "Rows are ranked. From three examples on, each has a probability."),
    answer.n_members !== null && h("p", {}, `About ${whole(answer.n_members)} of ${whole(answer.n_table_rows)} rows, ${percent(answer.n_members / answer.n_table_rows)}.`),
    warnings(found.warnings),
    differences(answer.differences),
    missing(answer.missing),
    dropped(answer.dropped_columns),
  ];
}

/** Create the links to the files of an answer. */
export function downloads(address, params) {
  return h("p", { class: "small" }, h("a", { class: "button plain", href: url(`${address}.csv`, params), download: "" }, "Download the labelled table"));
}

function sentence(text) {
  return `${text[0].toUpperCase()}${text.slice(1)}.`;
}

function missing(list) {
  return list.length === 0 ? null : h("section", {}, h("h3", {}, "Missing values"), h("ul", { class: "small" }, list.map((text) => h("li", { dir: "auto" }, text))));
}

function warnings(list) {
  return list.map(({ message }) => h("p", { class: "table-warning small" }, message));
}

function differences(list) {
  const drawn = list.slice(0, MAX_COLUMNS);
  const longest = Math.max(...drawn.map(({ effect }) => Math.abs(effect)), Number.MIN_VALUE);
  const row = ({ column, members, others: all, stderr, effect }) =>
    h(
      "tr",
      {},
      h("th", { scope: "row", dir: "auto", class: isLong(column) ? "long" : null }, breakable(column)),
      h("td", { class: stderr === null ? null : "estimate" }, typeof members === "object" && members !== null ? shares(members) : give(members, stderr)),
      h("td", { class: "muted" }, typeof all === "object" && all !== null ? shares(all) : shown(all)),
      h("td", { title: `${plain(effect)} standard deviations` }, h("span", { class: "bar", "aria-hidden": "true" }, h("i", { style: { width: `${(100 * Math.abs(effect)) / longest}%` } })), h("span", { class: "visually-hidden" }, `${plain(effect)} standard deviations`)),
    );
  const columns = ["Column", "Members", "Other rows", "Difference"].map((name) => h("th", { scope: "col" }, name));
  const table = h("table", { class: "plain-table small" }, h("thead", {}, h("tr", {}, columns)), h("tbody", {}, drawn.map(row)));
  const title = "What sets them apart";
  return h("section", {}, h("h3", {}, title), h("div", { class: "wide-table", tabindex: 0, role: "region", "aria-label": title }, table));
}

function dropped(columns) {
  const names = Object.entries(columns);
  if (names.length === 0) return null;
  return h("details", { class: "small" }, h("summary", {}, `${count(names.length, "column")} left out`), h("ul", {}, names.map(([name, reason]) => h("li", {}, h("bdi", {}, name), `: ${reason}`))));
}

/** Format a value with as many decimals as its error deserves. */
function give(value, stderr) {
  if (typeof value !== "number" || stderr === null) return shown(value);
  if (!(stderr > 0)) return plain(value);
  const decimals = Math.min(Math.max(1 - Math.floor(Math.log10(stderr)), 0), 8);
  return `${value.toFixed(decimals)} ± ${stderr.toFixed(decimals)}`;
}

function shares(of) {
  return Object.entries(of).slice(0, 3).map(([level, share]) => `${level} ${percent(share)}`).join(", ");
}

/** Create the form that names rows by their numbers, for those who do not point. */
export function rowForm(act) {
  const input = h("input", { type: "text", id: "row-numbers", inputmode: "numeric", autocomplete: "off", placeholder: "3, 17, 40" });
  const submit = (event) => {
    event.preventDefault();
    const rows = input.value.split(/[\s,;]+/u).filter((text) => /^\d{1,15}$/u.test(text)).map(Number);
    if (rows.length > 0) act.choose(rows, event.submitter?.value === "unlike");
    input.value = "";
  };
  return h(
    "form",
    { class: "toolbar row-form", on: { submit } },
    h("label", { for: "row-numbers", class: "small" }, "Rows by number"),
    input,
    h("button", { class: "button plain", value: "like" }, "Like"),
    h("button", { class: "button plain", value: "unlike" }, "Not like"),
  );
}

/** Create chips of the examples; a click takes one out. */
export function examples({ like, notLike }, act) {
  const chip = (row, isUnlike) => {
    const name = `${isUnlike ? "not " : ""}${row}`;
    const props = { type: "button", class: isUnlike ? "chip unlike" : "chip", "aria-label": `${name}: take out this row`, on: { click: () => act.choose([row], isUnlike) } };
    return h("button", props, name, h("span", { "aria-hidden": "true" }, "×"));
  };
  if (like.length + notLike.length === 0) return null;
  const clear = h("button", { type: "button", class: "link small", on: { click: act.clear } }, "Clear");
  return h("div", { class: "toolbar table-examples" }, like.map((row) => chip(row, false)), notLike.map((row) => chip(row, true)), clear);
}

/** Create a table of rows with their first values. */
export function rowTable(title, rows, isProbability) {
  if (rows.length === 0) return null;
  const names = Object.keys(rows[0].values ?? {}).slice(0, MAX_VALUES);
  const column = (name) => h("th", { scope: "col", dir: "auto", class: isLong(name) ? "long" : null }, breakable(name));
  const head = ["Row", isProbability ? "Member" : "Rank", ...names].map(column);
  const body = rows.map((row) =>
    h(
      "tr",
      {},
      h("th", { scope: "row", class: "number" }, row.id ?? row.row),
      h("td", { class: "number" }, isProbability ? chance(row.membership) : rank(row.membership)),
      names.map((name) => h("td", { dir: "auto" }, shown(row.values[name]))),
    ),
  );
  return h(
    "section",
    { class: "table-rows" },
    h("h3", {}, title),
    h("div", { class: "wide-table", tabindex: 0, role: "region", "aria-label": title }, h("table", { class: "plain-table small" }, h("thead", {}, h("tr", {}, head)), h("tbody", {}, body))),
  );
}

function rank(membership) {
  return `top ${percent(Math.max(1 - membership, 0.001))}`;
}

/** Return whether the name of a column has a word that is too long for one line. */
function isLong(name) {
  return name.split(/[\s._/\\-]/u).some((word) => word.length > MAX_LETTERS);
}

export function shown(value) {
  if (value === null || value === undefined) return "–";
  if (typeof value === "number") return plain(value);
  return typeof value === "object" ? JSON.stringify(value).slice(0, 40) : String(value);
}
