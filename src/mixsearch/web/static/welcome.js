// What an empty box shows: words to begin with, and how to ask.

import { h } from "./dom.js";
import { count } from "./numbers.js";

const WAYS = [
  ["graph node", "several words: the topic that they share"],
  ["graph -node", "without the topics that the unwanted word belongs to"],
  ['"time series"', "words that stand in the same documents"],
  ["graph^2 color", "a word with twice the say"],
  ["encrypt*", "all words that begin so"],
];

export function welcome(page, act) {
  const { name, n_documents: nDocuments, n_words: nWords, n_components: nTopics, telling_words: telling } = page.index;
  const overview = (event) => {
    event.preventDefault();
    page.go("overview");
  };
  return h(
    "section",
    { class: "welcome" },
    h("h1", {}, "Which topic do your words belong to?"),
    h("p", { class: "muted" }, `Type a word or two. The page finds the topic behind them among ${count(nDocuments, "document")} of `, h("b", {}, name), `, with ${count(nWords, "word")} and ${count(nTopics, "topic")}.`),
    h("h2", {}, "Words to begin with"),
    h("ul", { class: "chips" }, telling.map((word) => h("li", {}, h("button", { type: "button", class: "chip", "data-word": word, on: { click: () => act.add(word) } }, word)))),
    h("p", {}, h("a", { href: page.addressOf("overview"), on: { click: overview } }, "Or see a map of the whole corpus")),
    h("h2", {}, "How to ask"),
    h("dl", { class: "ways small" }, WAYS.map(([query, meaning]) => [h("dt", {}, h("code", {}, query)), h("dd", {}, meaning)])),
  );
}
