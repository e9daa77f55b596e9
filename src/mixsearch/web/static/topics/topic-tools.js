// What is done with a topic: pin, save, copy its link, download.

import { pathOf, queryOf, url } from "../shared/api.js";
import { h } from "../shared/dom.js";
import { isPinned, pinsOf, togglePin } from "../shared/pins.js";
import { savedOf, saveTopic } from "../shared/saved.js";
import { downloads, linkButton } from "../shared/take-along.js";

/** Create what is done with a topic, given its parameters; saved(search) is called when it was saved. */
export function topicActions(page, params, { name, words, saved }) {
  const topic = queryOf(params).toString();
  return h("div", { class: "toolbar topic-actions" }, pinButton(page, topic), saveButton(page, { search: topic, name, words }, saved), linkButton(page));
}

/** Create the links to the files of a topic; complete() returns the answer with standard errors. */
export function topicFiles(page, params, complete) {
  const files = {
    csv: url(pathOf(page.index, "topic.csv"), { ...params, errors: true }),
    json: url(pathOf(page.index, "topic"), { ...params, errors: true }),
    html: url(pathOf(page.index, "report.html"), { topic: queryOf(params).toString() }),
  };
  return h("div", { class: "topic-files" }, downloads(files, page, async () => [await complete()]));
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

function pinButton(page, topic) {
  const props = { type: "button", id: "pin", class: "button plain", "data-key": "pin" };
  const button = h("button", { ...props, on: { click: press } });
  function show() {
    const isIn = isPinned(page.index, topic);
    button.setAttribute("aria-pressed", String(isIn));
    button.textContent = isIn ? "Pinned" : "Pin to compare";
  }
  function press() {
    const { max_compared: most } = page.settings;
    if (!isPinned(page.index, topic) && pinsOf(page.index).length >= most) {
      page.showError(new Error(`${most} topics are pinned already. Remove one under Compare first.`));
      return;
    }
    togglePin(page, topic);
    show();
    page.announce(isPinned(page.index, topic) ? "Pinned." : "No longer pinned.");
  }
  show();
  return button;
}
