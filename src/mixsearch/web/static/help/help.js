// Help: what can be done here, keys, and about the program.

import { get } from "../shared/api.js";
import { h, replace } from "../shared/dom.js";

const SEARCHES = [
  ["sushi rice", "one topic of both words"],
  ["sushi -burger", "a topic of sushi that is not about burgers"],
  ['"new york"', "a phrase"],
  ["sushi^2 rice", "sushi counts double"],
  ["encrypt*", "all words that start with encrypt"],
];
const KEYS = [
  ["/", "go to the search box"],
  ["↓ Enter", "take a completion"],
  ["Shift-click", "exclude a word; mark a row as unlike; add a spot to a segment"],
  ["+ − 0", "zoom a map, a plot or a picture in and out, and show all of it"],
  ["Arrow keys", "move a map; go from row to row in the plot of a table, where Enter marks one"],
  ["Delete", "remove the chosen seed of a segment"],
  ["Esc", "close what is open"],
];
const VIEWS = [
  ["Topics", "./", "Type a word. The answer has the words of its topic, how sure it is, what else the word could mean, and typical documents."],
  ["Overview", "overview", "A map of the topics of the corpus, before you know a word of it."],
  ["Table", "table", "Click a few rows of a table: the rows like them light up."],
  ["Segment", "segment", "Click a spot of each thing in a picture."],
];

export function show(root, _, page) {
  const version = h("dd", {}, "");
  const served = h("dd", {}, "");
  replace(
    root,
    h(
      "article",
      { class: "card help" },
      h("h1", {}, "Help"),
      h("p", {}, "mixsearch finds one component of a mixture from a small hint: a topic from a word, rows of a table from a few of them, a segment of a picture from a click."),
      h("h2", {}, "Views"),
      h("dl", {}, VIEWS.map(([name, address, text]) => [h("dt", {}, h("a", { href: address }, name)), h("dd", {}, text)])),
      h("h2", {}, "Searches"),
      h("dl", {}, SEARCHES.map(([typed, text]) => [h("dt", {}, h("code", {}, typed)), h("dd", {}, text)])),
      h("h2", {}, "How to read an answer"),
      h("p", {}, "Every answer says how sure it is. Whiskers are one standard error, intervals hold the true value 95 times of 100. Where an answer is doubtful, other meanings are one click away."),
      h("h2", {}, "Files"),
      h("p", {}, page.settings.accepts_files ? "Drop a CSV, JSON lines, Parquet or Excel file anywhere on the page: its texts become an index, or it is opened as a table." : "This server accepts no files."),
      h("h2", {}, "Keys"),
      h("dl", {}, KEYS.map(([key, text]) => [h("dt", {}, h("kbd", {}, key)), h("dd", {}, text)])),
      h("h2", { id: "about" }, "About"),
      h("dl", {}, h("dt", {}, "Version"), version, h("dt", {}, "Indexes"), served, h("dt", {}, "Licence"), h("dd", {}, "BSD-3-Clause"), h("dt", {}, "Privacy"), h("dd", {}, "Everything comes from this server, and nothing is sent to any other."), h("dt", {}, "For programs"), h("dd", {}, h("a", { href: "api/openapi.json" }, "api/openapi.json"))),
    ),
  );
  fill(version, served, page);
}

async function fill(version, served, page) {
  try {
    const health = await get("api/health");
    version.textContent = `mixsearch ${health.version}`;
    served.textContent = health.indexes.join(", ") || "none";
  } catch (error) {
    page.showError(error);
  }
}
