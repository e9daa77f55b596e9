// Files with texts or tables: a place to drop or choose one.

import { h } from "./dom.js";
import { picker } from "./file-picker.js";
import { bytes } from "./numbers.js";

/** Create a place to drop a file, with a button to choose one. */
export function fileDrop(page, title, ...more) {
  const { file_suffixes: suffixes, max_file: most } = page.settings;
  return h(
    "section",
    { class: "file-drop", "aria-label": title },
    h("h1", {}, title),
    h("p", {}, "Drop a CSV, JSON lines, Parquet or Excel file here. A file with texts becomes an index, in which you search topics; any other is opened as a table."),
    h("div", { class: "toolbar" }, picker("Choose a file", suffixes, (file) => page.openFile(file)), more),
    h("p", { class: "small muted" }, `Up to ${bytes(most)}. The file stays on this server until it stops, and goes nowhere else.`),
  );
}

/** Return whether a file has a name that can be opened here. */
export function isTable(file, { file_suffixes: suffixes }) {
  return suffixes.some((suffix) => file.name.toLowerCase().endsWith(suffix));
}
