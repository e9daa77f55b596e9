// Files with texts or tables: a place to drop or choose one.

import { h } from "./dom.js";
import { bytes } from "./numbers.js";

/** Create a place to drop a file, with a button to choose one. */
export function fileDrop(page, title, ...more) {
  const { file_suffixes: suffixes, max_file: most } = page.settings;
  const input = h("input", {
    type: "file",
    accept: suffixes.join(","),
    class: "visually-hidden",
    tabindex: -1,
    "aria-hidden": "true",
    on: {
      change: () => {
        const [file] = input.files ?? [];
        input.value = ""; // the same file may be chosen again
        if (file) page.openFile(file);
      },
    },
  });
  const choose = { type: "button", class: "button", on: { click: () => input.click() } };
  return h(
    "section",
    { class: "file-drop", "aria-label": title },
    h("h1", {}, title),
    h("p", {}, "Drop a CSV, JSON lines, Parquet or Excel file here. A file with texts becomes an index, in which you search topics; any other is opened as a table."),
    h("div", { class: "toolbar" }, h("button", choose, "Choose a file"), input, more),
    h("p", { class: "small muted" }, `Up to ${bytes(most)}. The file stays on this server until it stops, and goes nowhere else.`),
  );
}

/** Return whether a file has a name that can be opened here. */
export function isTable(file, { file_suffixes: suffixes }) {
  return suffixes.some((suffix) => file.name.toLowerCase().endsWith(suffix));
}
