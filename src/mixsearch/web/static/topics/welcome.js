// The welcome text: words to start with, and the search syntax.

import { h } from "../shared/dom.js";
import { isPlainClick } from "../shared/links.js";
import { count } from "../shared/numbers.js";

export function welcome(page, act) {
  const { distinctive_words: distinctive, starters } = page.index;
  const chip = ({ word, other }) => {
    const props = { type: "button", class: "chip", "data-word": word, on: { click: () => act.add(word) } };
    return h("li", {}, h("button", props, word, other ? h("small", {}, ` ${other}`) : null));
  };
  return h(
    "section",
    { class: "welcome" },
    h("h1", {}, "Which topic do your words belong to?"),
    facts(page.index),
    starters.length > 0 ? [h("h2", {}, "Words to begin with"), h("ul", { class: "chips" }, starters.map(chip))] : null,
    overviewLink(page),
    h("h2", {}, "How to ask"),
    h("dl", { class: "ways small" }, ways(distinctive).map((way) => explained(way, act))),
  );
}

function facts({ name, n_documents: nDocuments, n_words: nWords, n_components: nTopics }) {
  return h(
    "p",
    { class: "muted" },
    `Type a word or two. The page finds the topic behind them among ${count(nDocuments, "document")} of `,
    h("b", {}, name),
    `, with ${count(nWords, "word")} and ${count(nTopics, "topic")}.`,
  );
}

function overviewLink(page) {
  const follow = (event) => {
    if (!isPlainClick(event)) return;
    event.preventDefault();
    page.go("overview");
  };
  const props = { href: page.addressOf("overview"), on: { click: follow } };
  return h("p", {}, h("a", props, "Or see a map of the whole corpus"));
}

/** @param {string[]} words */
function ways([one = "word", other = "another"]) {
  return [
    [`${one} ${other}`, "several words: the topic that they share"],
    [`${one} -${other}`, "a minus: not what the other word stands for"],
    [`"${one} ${other}"`, "quotes: words that stand in the same documents"],
    [`${one}^2 ${other}`, "a weight: one word has twice the say"],
    [`${one.slice(0, 4)}*`, "a star: all words that begin so"],
  ];
}

/** @param {string[]} way @param {any} act */
function explained([query, meaning], act) {
  const example = { type: "button", class: "example", on: { click: () => act.search(query) } };
  return [h("dt", {}, h("button", example, h("code", {}, query))), h("dd", {}, meaning)];
}
