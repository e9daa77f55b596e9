// Rows as lists: examples and typical rows.

import { breakable } from "../shared/document-facts.js";
import { h } from "../shared/dom.js";
import { chance, plain } from "../shared/numbers.js";

const MAX_VALUES = 4;
// A word of more letters than this is broken, so that it does not take the room of all other columns.
const MAX_LETTERS = 20;

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
export function rowTable(title, rows) {
  if (rows.length === 0) return null;
  const names = Object.keys(rows[0].values ?? {}).slice(0, MAX_VALUES);
  const column = (name) => h("th", { scope: "col", dir: "auto", class: isLong(name) ? "long" : null }, breakable(name));
  const head = ["Row", "Member", ...names].map(column);
  const body = rows.map((row) =>
    h(
      "tr",
      {},
      h("th", { scope: "row", class: "number" }, row.id ?? row.row),
      h("td", { class: "number" }, chance(row.membership)),
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

/** Return whether the name of a column has a word that is too long for one line. */
export function isLong(name) {
  return name.split(/[\s._/\\-]/u).some((word) => word.length > MAX_LETTERS);
}

export function shown(value) {
  if (value === null || value === undefined) return "–";
  if (typeof value === "number") return plain(value);
  return typeof value === "object" ? JSON.stringify(value).slice(0, 40) : String(value);
}
