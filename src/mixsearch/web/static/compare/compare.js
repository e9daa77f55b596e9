// The comparison of pinned topics.

import { get, pathOf, url } from "../shared/api.js";
import { h, replace } from "../shared/dom.js";
import { isPlainClick } from "../shared/links.js";
import { Newest } from "../shared/newest.js";
import { overlapSection } from "./overlaps.js";
import { pinsOf, setPins } from "../shared/pins.js";
import { topicColumn } from "./topic-column.js";
import { downloads, linkButton } from "../shared/take-along.js";

export function show(root, state, page) {
  if (!page.index) {
    replace(root, h("p", { class: "card" }, "This server has no index of documents. Pictures can still be segmented."));
    return undefined;
  }
  const newest = new Newest();
  const open = (newState) => {
    const topics = newState.has("topic") ? newState.getAll("topic").slice(0, page.settings.max_compared) : pinsOf(page.index);
    return compare(root, topics, page, newest);
  };
  open(state);
  return { update: open, close: () => newest.stop() };
}

async function compare(root, topics, page, newest) {
  setPins(page, topics); // a shared link sets the pins
  if (topics.length === 0) {
    put(root, nothing(page));
    return;
  }
  if (!root.firstChild) replace(root, skeletons(topics.length));
  const result = await newest.ask((signal) => get(pathOf(page.index, "compare"), { topic: topics }, { signal }));
  if (result?.error) {
    replace(root);
    page.showError(result.error);
  }
  if (result?.answer) put(root, comparison(result.answer, topics, page));
}

function skeletons(n) {
  return h("div", { class: "comparison" }, Array.from({ length: n }, () => h("div", { class: "skeleton" })));
}

/** Replace the content; a lost focus moves to the title. */
function put(root, ...children) {
  const hadFocus = root.contains(document.activeElement);
  replace(root, ...children);
  if (hadFocus) root.querySelector("h1").focus();
}

function comparison({ topics: answers, overlaps }, topics, page) {
  const found = answers.filter((answer) => !answer.error);
  const shared = sharedWords(found);
  const columns = answers.map((answer, i) => topicColumn(answer, shared, actsOn(i, topics, page)));
  const title = h("h1", { tabindex: "-1" }, "Topics side by side");
  return [
    h("header", { class: "compare-head" }, title, tools(topics, found, page)),
    h("p", { class: "muted small" }, "Shared words are highlighted. Point at one to see which topics share it."),
    linking(h("div", { class: "comparison" }, columns)),
    found.length > 1 ? overlapSection(answers, overlaps) : null,
  ];
}

function actsOn(i, topics, page) {
  const params = new URLSearchParams(topics[i]);
  return {
    href: page.addressOf("topics", params),
    open: () => page.go("topics", params),
    remove: () => {
      const others = topics.filter((_, j) => j !== i);
      setPins(page, others);
      page.go("compare", { topic: others });
    },
  };
}

/** Highlight the word under the pointer or focus in every column. */
function linking(columns) {
  const link = (event) => {
    const word = event.target.closest(".pair")?.dataset.word;
    for (const pair of columns.querySelectorAll(".pair")) {
      pair.classList.toggle("is-linked", pair.dataset.word === word);
    }
  };
  const unlink = () => {
    for (const pair of columns.querySelectorAll(".is-linked")) pair.classList.remove("is-linked");
  };
  for (const event of ["pointerover", "focusin"]) columns.addEventListener(event, link);
  for (const event of ["pointerout", "focusout"]) columns.addEventListener(event, unlink);
  return columns;
}

function tools(topics, found, page) {
  const files = {
    csv: url(pathOf(page.index, "compare.csv"), { topic: topics }),
    json: url(pathOf(page.index, "compare"), { topic: topics }),
    html: url(pathOf(page.index, "report.html"), { topic: topics }),
  };
  return h("div", { class: "toolbar" }, linkButton(page), downloads(files, page, () => Promise.resolve(found)));
}

/** Return the words that at least two topics show. */
function sharedWords(answers) {
  const seen = new Set();
  const shared = new Set();
  for (const { words } of answers) {
    for (const { word } of words) (seen.has(word) ? shared : seen).add(word);
  }
  return shared;
}

function nothing(page) {
  const follow = (event) => {
    if (!isPlainClick(event)) return;
    event.preventDefault();
    page.go("topics");
  };
  return h(
    "section",
    { class: "welcome" },
    h("h1", { tabindex: "-1" }, "Nothing pinned yet"),
    h(
      "p",
      { class: "muted" },
      "Find a topic, press ",
      h("b", {}, "Pin to compare"),
      " under its words, and do so for another one. They then stand here side by side.",
    ),
    h("p", {}, h("a", { class: "button", href: page.addressOf("topics"), on: { click: follow } }, "Find a topic")),
  );
}
