// Pinned topics side by side, and how much they have in common.

import { get, pathOf, url } from "./api.js";
import { h, replace } from "./dom.js";
import { Newest } from "./newest.js";
import { overlapSection } from "./overlaps.js";
import { saveTopics } from "./picture.js";
import { setPins } from "./pins.js";
import { topicColumn } from "./topic-column.js";
import { downloads, linkButton } from "./topic-tools.js";

export function show(root, state, page) {
  if (!page.index) {
    replace(root, h("p", { class: "card" }, "This server has no index of documents."));
    return undefined;
  }
  const newest = new Newest();
  const open = (newState) => compare(root, newState.getAll("topic"), page, newest);
  open(state);
  return { update: open, close: () => newest.stop() };
}

async function compare(root, topics, page, newest) {
  setPins(page.index, topics); // a link brings its topics along
  if (topics.length === 0) {
    replace(root, nothing(page));
    return;
  }
  if (!root.firstChild) replace(root, h("div", { class: "comparison", "aria-busy": "true" }, topics.map(() => h("div", { class: "skeleton" }))));
  const result = await newest.ask((signal) => get(pathOf(page.index, "compare"), { topic: topics }, { signal }));
  if (result?.error) page.tell(result.error);
  if (result?.answer) replace(root, comparison(result.answer, topics, page));
}

function comparison({ topics: answers, overlaps }, topics, page) {
  const found = answers.filter((answer) => !answer.error);
  const shared = sharedWords(found);
  const act = {
    open: (i) => page.go("topics", new URLSearchParams(topics[i])),
    remove: (i) => page.go("compare", { topic: topics.filter((_, j) => j !== i) }),
  };
  const columns = answers.map((answer, i) => topicColumn(answer, shared, { open: () => act.open(i), remove: () => act.remove(i), href: page.addressOf("topics", new URLSearchParams(topics[i])) }));
  const body = h("div", { class: "comparison", on: { pointerover: link, pointerout: unlink, focusin: link, focusout: unlink } }, columns);
  return [
    h("header", { class: "compare-head" }, h("h1", { tabindex: "-1" }, "Topics side by side"), tools(topics, found, page)),
    h("p", { class: "muted small" }, "Words that several topics have among their first are set off. Point at a word to see it in the others."),
    body,
    found.length > 1 ? overlapSection(answers, overlaps) : null,
  ];

  /** Set off the same word everywhere. */
  function link(event) {
    const word = event.target.closest(".pair")?.dataset.word;
    for (const each of body.querySelectorAll(".pair")) each.classList.toggle("is-linked", word !== undefined && each.dataset.word === word);
  }
  function unlink() {
    for (const each of body.querySelectorAll(".is-linked")) each.classList.remove("is-linked");
  }
}

function tools(topics, found, page) {
  const addresses = {
    csv: url(pathOf(page.index, "compare.csv"), { topic: topics }),
    json: url(pathOf(page.index, "compare"), { topic: topics }),
  };
  return h("div", { class: "toolbar" }, linkButton(page, () => location.href), downloads(addresses, (kind) => saveTopics(found, page, kind)));
}

/** Words that at least two topics have among those shown. */
function sharedWords(answers) {
  const seen = new Set();
  const shared = new Set();
  for (const { words } of answers) {
    for (const { word } of words) (seen.has(word) ? shared : seen).add(word);
  }
  return shared;
}

function nothing(page) {
  const search = (event) => {
    event.preventDefault();
    page.go("topics");
  };
  return h(
    "section",
    { class: "welcome" },
    h("h1", {}, "Nothing pinned yet"),
    h("p", { class: "muted" }, "Find a topic, press ", h("b", {}, "Pin to compare"), " under its words, and do so for another one. They then stand here side by side."),
    h("p", {}, h("a", { class: "button", href: page.addressOf("topics"), on: { click: search } }, "Find a topic")),
  );
}
