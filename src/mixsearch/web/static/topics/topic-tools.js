// What is done with a topic: save, copy its link, download.

import { pathOf, queryOf, url } from "../shared/api.js";
import { copyText } from "../shared/clipboard.js";
import { h } from "../shared/dom.js";
import { savedOf, saveTopic } from "../shared/saved.js";

/** Create what is done with a topic, given its parameters; saved(search) is called when it was saved. */
export function topicActions(page, params, { name, words, saved }) {
  const topic = queryOf(params).toString();
  return h("div", { class: "toolbar topic-actions" }, saveButton(page, { search: topic, name, words }, saved), linkButton(page));
}

/** Create the links to the files of a topic, which the server names. */
export function topicFiles(page, params) {
  const report = url(pathOf(page.index, "report.html"), { topic: queryOf(params).toString() });
  const csv = url(pathOf(page.index, "topic.csv"), { ...params, errors: true });
  return h(
    "div",
    { class: "topic-files downloads small" },
    h("span", { class: "muted" }, "Save as "),
    h("a", { href: report, download: "", "data-download": "html", title: "One file that opens offline, to send around" }, "Report"),
    h("a", { href: csv, download: "", "data-download": "csv" }, "CSV"),
  );
}

/** Create a button that copies the address of the page. */
function linkButton(page) {
  const copy = () => copyText(page, location.href, button);
  const props = { type: "button", id: "copy-link", class: "button plain", "data-key": "copy", on: { click: copy } };
  const button = h("button", props, "Copy link");
  return button;
}

function saveButton(page, topic, saved) {
  const isIn = () => savedOf(page.index).some(({ search }) => search === topic.search);
  const press = () => {
    if (!isIn()) saveTopic(page.index, topic);
    show();
    saved(topic.search);
  };
  const props = { type: "button", id: "save-topic", class: "button plain", "data-key": "save", on: { click: press } };
  const button = h("button", props);
  function show() {
    button.textContent = isIn() ? "Saved" : "Save";
    button.title = isIn() ? "Rename or annotate this topic" : "Keep this topic under a name, in this browser";
  }
  show();
  return button;
}
