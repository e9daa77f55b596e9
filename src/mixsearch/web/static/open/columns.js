// The columns that the first rows of a file show.

import { h } from "../shared/dom.js";

const ROLES = {
  text: "text",
  id: "name of the row",
  title: "title",
  link: "link",
  date: "date",
  category: "category",
  number: "number",
};

/** Create a table of the columns, with a box for each that may hold the text; chosen() returns the marked ones. */
export function foundColumns({ columns }) {
  const boxes = new Map(columns.filter(mayBeText).map((column) => [column.name, box(column)]));
  const head = ["Text", "Column", "Holds", "For example"].map((name) => h("th", { scope: "col" }, name));
  const rows = columns.map((column) =>
    h(
      "tr",
      {},
      h("td", {}, boxes.get(column.name) ?? null),
      h("th", { scope: "row", dir: "auto" }, column.name),
      h("td", {}, ROLES[column.role] ?? (mayBeText(column) ? "words" : column.kind)),
      h("td", { class: "example muted", dir: "auto" }, column.example ?? "no value"),
    ),
  );
  const table = h("table", { class: "found-columns" }, h("thead", {}, h("tr", {}, head)), h("tbody", {}, rows));
  return {
    element: h("div", { class: "wide-table", tabindex: 0, role: "region", "aria-label": "Columns of the file" }, table),
    chosen: () => [...boxes].filter(([, { checked }]) => checked).map(([name]) => name),
  };
}

function mayBeText({ kind }) {
  return kind.includes("string");
}

function box({ name, role }) {
  const input = h("input", { type: "checkbox", "aria-label": `${name} holds text` });
  input.checked = role === "text";
  return input;
}
