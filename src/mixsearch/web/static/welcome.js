// What an empty box shows: words to begin with, and how to ask.

import { h } from "./dom.js";
import { count } from "./numbers.js";

function ways([one = "word", other = "another"]) {
  return [
    [`${one} ${other}`, "several words: the topic that they share"],
    [`${one} -${other}`, "a minus: not what the other word stands for"],
    [`"${one} ${other}"`, "quotes: words that stand in the same documents"],
    [`${one}^2 ${other}`, "a weight: one word has twice the say"],
    [`${one.slice(0, 4)}*`, "a star: all words that begin so"],
  ];
}

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
    h("dl", { class: "ways small" }, ways(telling).map(([query, meaning]) => [h("dt", {}, example(query, act)), h("dd", {}, meaning)])),
  );
}

function example(query, act) {
  return h("button", { type: "button", class: "example", on: { click: () => act.ask(query) } }, h("code", {}, query));
}
