// What to do with a server that has no documents.

import { h } from "../shared/dom.js";

export function nothingServed() {
  const command = (text) => h("p", {}, h("code", {}, text));
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
