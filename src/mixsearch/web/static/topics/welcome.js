// The start: what the corpus is about, one topic as an example, and the search syntax.

import { get, pathOf } from "../shared/api.js";
import { nameOfDocument } from "../shared/document-facts.js";
import { h, replace } from "../shared/dom.js";
import { fileDrop } from "../shared/files.js";
import { count, percent } from "../shared/numbers.js";
import { quoted } from "../shared/query.js";
import { mainWords } from "../shared/wording.js";

const N_WORDS = 7;
const N_DOCUMENTS = 3;

export function welcome(page, act) {
  const { distinctive_words: distinctive, starters } = page.index;
  const entries = new Map(starters.map((starter) => [starter.word, new Entry(starter, act)]));
  const example = h("section", { class: "card example-topic", "aria-labelledby": "example-title", hidden: true });
  if (starters.length > 0) fill(page, entries, example, act);
  return h(
    "section",
    { class: "welcome start" },
    h(
      "div",
      { class: "about-corpus" },
      h("h1", {}, "What is ", h("em", {}, page.index.name), " about?"),
      facts(page.index),
      starters.length > 0 ? h("ul", { class: "entries" }, [...entries.values()].map(({ element }) => element)) : null,
      overviewLink(page),
      h("h2", {}, "Ways to search"),
      h("dl", { class: "ways small" }, ways(distinctive).map((way) => explained(way, act))),
    ),
    example,
  );
}

/** A word to begin with; its topic is added when it comes. */
class Entry {
  constructor({ word, other }, act) {
    this.words = h("span", { class: "entry-words small" }, other ?? "");
    this.share = h("span", { class: "entry-share number small" });
    const props = { type: "button", class: "entry", "data-word": word, on: { click: () => act.add(word) } };
    this.element = h("li", {}, h("button", props, h("b", {}, word), this.share, this.words));
  }

  add(word, { label, weight }) {
    this.words.textContent = mainWords(label).filter((each) => each !== word).join(", ");
    this.share.textContent = percent(weight);
    this.share.title = "Share of the corpus";
  }
}

/** Ask for the topics of the words, and for the clearest of them as the example. */
async function fill(page, entries, example, act) {
  try {
    const { topics } = await get(pathOf(page.index, "overview"), { words: [...entries.keys()] });
    for (const topic of topics) {
      for (const word of topic.words) entries.get(word)?.add(word, topic);
    }
    const clearest = topics.reduce((a, b) => ((b.confidence ?? 0) > (a.confidence ?? 0) ? b : a));
    const [word] = clearest.words;
    const params = { q: quoted(word), n_words: N_WORDS, n_documents: N_DOCUMENTS };
    showExample(example, word, await get(pathOf(page.index, "topic"), params), act);
  } catch {
    // The words to begin with are there; a search reports the error.
  }
}

function showExample(example, word, { words, weight, documents }, act) {
  const sorted = [...words].sort((a, b) => b.probability - a.probability);
  const full = sorted[0].probability;
  const row = (each) => {
    const part = h("i", { style: { width: `${((100 * each.probability) / full).toFixed(1)}%` } });
    return h("li", {}, h("span", {}, each.word), h("span", { class: "bar", "aria-hidden": "true" }, part));
  };
  const open = { type: "button", class: "button plain", on: { click: () => act.add(word) } };
  example.hidden = false;
  replace(
    example,
    h("h2", { id: "example-title" }, "For example: ", h("q", {}, word)),
    h("p", { class: "muted small" }, `${percent(weight)} of the corpus is about this topic. Its words:`),
    h("ul", { class: "example-words" }, sorted.map(row)),
    documents.length > 0 ? h("p", { class: "muted small" }, "Documents about it:") : null,
    h("ul", { class: "example-documents small" }, documents.map((each) => h("li", {}, each.title || each.name || each.snippet || nameOfDocument(each)))),
    h("button", open, `Open the topic of ${word}`),
  );
}

function facts({ n_documents: nDocuments, n_words: nWords, n_components: nTopics }) {
  const size = `${count(nDocuments, "document")}, ${count(nWords, "word")}, ${count(nTopics, "topic")}.`;
  return h("p", { class: "muted" }, `${size} Type a word to see the topic behind it, or start with one of these:`);
}

function overviewLink(page) {
  const props = { href: page.addressOf("overview"), on: { click: (event) => page.follow(event, "overview") } };
  return h("p", {}, h("a", props, "Or see a map of the whole corpus"));
}

/** @param {string[]} words */
function ways(words) {
  const [one = "word", other = "another"] = words.filter((word) => !word.includes(" "));
  const phrase = words.find((word) => word.includes(" ")) ?? `${one} ${other}`;
  return [
    [`${one} ${other}`, "several words: the topic they share"],
    [`${one} -${other}`, "minus: not the meaning of this word"],
    [`"${phrase}"`, "quotes: words in the same documents"],
    [`${one}^2 ${other}`, "weight: this word counts double"],
    [`${one.slice(0, 4)}*`, `star: all words starting with ${one.slice(0, 4)}`],
  ];
}

/** @param {string[]} way @param {any} act */
function explained([query, meaning], act) {
  const example = { type: "button", class: "example", on: { click: () => act.search(query) } };
  return [h("dt", {}, h("button", example, h("code", {}, query))), h("dd", {}, meaning)];
}

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
