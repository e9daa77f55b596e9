// What to do with a server that has no documents.

import { h } from "../shared/dom.js";
import { fileDrop } from "../shared/file-drop.js";

export function nothingServed(page) {
  const command = (text) => h("p", {}, h("code", {}, text));
  if (page.settings.accepts_files) return fileDrop(page, "No documents to search yet");
  return h(
    "section",
    { class: "card nothing-served" },
    h("h1", {}, "No documents to search yet"),
    h("p", {}, "This server has no index of documents. Start it with a file of texts, such as CSV, Parquet or JSON lines:"),
    command("mixsearch serve reviews.csv"),
    h("p", {}, "or with the docstrings on this computer:"),
    command("mixsearch serve --demo"),
    h("p", {}, "Pictures can be segmented without any."),
  );
}
