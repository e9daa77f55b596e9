// The topic found: its title, share, verdict and words, and what is done with it.

import { pathOf, queryOf, url } from "../shared/api.js";
import { copyText } from "../shared/browser.js";
import { h } from "../shared/dom.js";
import { chance, giveOrTake, percent, times, whole } from "../shared/numbers.js";
import { rove } from "../shared/roving.js";
import { badgeOf, explain, titleOf, toneOf } from "../shared/wording.js";
import { savedOf, saveTopic } from "./saved-topics.js";

// Skipped words are shown with buttons to replace them, and a weak hint by the verdict.
const SHOWN_ELSEWHERE = ["skipped_words", "weak_hint"];
const FACTS = {
  share: ["Share of the corpus", "How much of all documents is about it, ± one standard error"],
  within: ["Share of matching documents", "How much of the matching documents is about it, ± one standard error"],
  documents: ["Documents about it", "How many documents are about it, with a 95% interval"],
  lead: ["Lead over the next", "How many times as strongly the search matches this topic as the next best one"],
  confidence: ["Confidence", "The probability that the topic is what you searched for"],
};
const WHISKER_MARGIN = 1.15;

export class TopicCard {
  constructor(answer, { name, by, wanted, actions, files }, act) {
    this.answer = answer;
    this.error = h("small", {});
    this.badge = h("p", {});
    this.sentence = h("p", { class: "sentence" });
    this.confidence = h("span", { id: "confidence" }, answer.confidence === null ? howSure(act) : chance(answer.confidence));
    this.bars = new WordBars(answer.words, wanted, act);
    this.element = h(
      "section",
      { id: "topic", class: "card topic", "aria-labelledby": "topic-title" },
      h("div", { class: "topic-head-line" }, h("p", { class: "eyebrow" }, "Topic of ", h("b", {}, name)), actions),
      h("h1", { id: "topic-title", tabindex: "-1" }, titleOf(answer.words)),
      answer.alternative > 0 ? wayBack(answer, name, act) : [this.badge, this.sentence],
      h(
        "dl",
        { class: "facts" },
        fact(answer.within ? "within" : "share", h("span", { id: "share" }, percent(answer.weight), " "), this.error),
        answer.n_about === null ? null : fact("documents", aboutOf(answer)),
        fact("lead", answer.separation === null ? "no other" : times(answer.separation)),
        fact("confidence", this.confidence),
      ),
      notes(answer, act),
      h("div", { class: "words-head" }, h("h2", {}, "Words"), orders(by, act)),
      columns(),
      this.bars.element,
      related(answer.related_words, wanted, act),
      files,
    );
    this.#judge(answer);
  }

  /** Show standard errors when they arrive. */
  addErrors({ weight, weight_stderr: stderr, words }) {
    if (stderr !== null) this.error.textContent = giveOrTake(weight, stderr);
    this.bars.addErrors(words);
  }

  /** Show that the confidence is being computed. */
  awaitConfidence() {
    this.confidence.textContent = "…";
  }

  /** Show the confidence, which may change the verdict. */
  addConfidence(answer) {
    this.confidence.textContent = answer.confidence === null ? "not known" : chance(answer.confidence);
    this.#judge(answer);
  }

  #judge(answer) {
    this.badge.className = `verdict ${toneOf(answer)}`;
    this.badge.textContent = badgeOf(answer);
    this.sentence.textContent = explain(answer);
  }
}

/** Create the button for the confidence, which is computed on request because it reads all documents. */
function howSure(act) {
  const props = { type: "button", id: "how-sure", class: "link", "data-key": "sure" };
  return h("button", { ...props, on: { click: act.judge } }, "How sure?");
}

function wayBack({ alternatives }, name, act) {
  const first = alternatives.find(({ rank }) => rank === 0);
  const props = { type: "button", id: "first-reading", class: "link", "data-key": "back" };
  return h(
    "p",
    { class: "way-back" },
    "Another meaning of ",
    h("b", {}, name),
    ". ",
    h("button", { ...props, on: { click: () => act.read(0) } }, "Back to the first"),
    first ? `: ${titleOf(first.words)}` : null,
  );
}

/** Create the switch for the choice of words. */
function orders(by, act) {
  const order = (value, label, title) => {
    const props = { type: "button", title, "aria-pressed": String(by === value), "data-key": `by ${value}` };
    return h("button", { ...props, on: { click: () => act.order(value) } }, label);
  };
  return h(
    "span",
    { class: "switch", role: "group", "aria-label": "Which words to show" },
    order("typical", "distinctive", "Show the words that set the topic apart"),
    order("probability", "frequent", "Show the most frequent words of the topic"),
  );
}

function columns() {
  const names = ["", "", "share", "", "× usual"].map((name) => h("span", {}, name));
  const title = "A word's share of the topic, and how many times likelier it is there than in the whole corpus";
  return h("div", { class: "word-row column-names", title, "aria-hidden": "true" }, names);
}

function related(words, wanted, act) {
  if (words.length === 0) return null;
  const chip = ({ word, likelier }) =>
    h("li", {}, wordButton(word, wanted, act, { class: "chip related-word" }, h("small", {}, times(likelier))));
  const chips = h("ul", { class: "chips" }, words.map(chip));
  rove(chips);
  return h("section", { class: "related" }, h("h2", {}, "Related words"), chips);
}

function notes({ warnings, skipped }, act) {
  const others = warnings.filter(({ code }) => !SHOWN_ELSEWHERE.includes(code));
  const lines = [...skipped.map((each) => skippedNote(each, act)), ...others.map(({ message }) => h("li", {}, message))];
  return lines.length > 0 ? h("ul", { class: "notes small", "aria-label": "Notes" }, lines) : null;
}

function skippedNote({ word, suggestions, message }, act) {
  if (suggestions.length === 0) return h("li", { class: "skipped" }, message);
  const button = (other) =>
    h("button", { type: "button", class: "chip suggestion", on: { click: () => act.swap(word, other) } }, other);
  return h(
    "li",
    { class: "skipped" },
    h("b", {}, word),
    " is not in the corpus and was left out. Did you mean ",
    suggestions.map((other) => [button(other), " "]),
  );
}

function fact(key, ...value) {
  const [name, title] = FACTS[key];
  return h("div", { title }, h("dt", {}, name), h("dd", { class: "number" }, value));
}

function aboutOf({ n_about: n, n_about_low: low, n_about_high: high, n_holding: holding }) {
  const range = h("small", { class: "below" }, `${whole(low)} to ${whole(high)}`);
  const words = holding === null ? null : h("small", { class: "below" }, `${whole(holding)} match the words`);
  return [whole(n), range, words];
}

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
    { class: "topic-files small" },
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

/** The words of a topic as bars, the longest first. Whiskers of one standard error are added later without moving anything. */
class WordBars {
  constructor(words, wanted, act) {
    const sorted = [...words].sort((a, b) => b.probability - a.probability);
    this.full = WHISKER_MARGIN * Math.max(...words.map(({ probability }) => probability), 1e-12);
    this.rows = new Map(sorted.map((each) => [each.word, this.#row(each, wanted, act)]));
    this.element = h(
      "ol",
      { class: "word-rows", "aria-label": "Words of the topic, with their probability in it" },
      [...this.rows.values()].map(({ element }) => element),
    );
    rove(this.element, ".word-row");
  }

  /** Add whiskers and standard errors. */
  addErrors(words) {
    for (const { word, probability, probability_stderr: stderr } of words) {
      const row = this.rows.get(word);
      if (!row || stderr === null) continue;
      const low = Math.max(probability - stderr, 0);
      const high = Math.min(probability + stderr, this.full);
      row.bar.append(h("i", { class: "whisker", style: { left: this.#part(low), width: this.#part(high - low) } }));
      row.error.textContent = giveOrTake(probability, stderr);
    }
  }

  #row({ word, probability, likelier }, wanted, act) {
    const fill = h("i", { class: "fill", style: { width: this.#part(probability) } });
    const bar = h("span", { class: "bar", "aria-hidden": "true" }, fill);
    const error = h("span", { class: "error number" });
    const element = h(
      "li",
      { class: "word-row", "data-word": word },
      h("span", { class: "word" }, wordButton(word, wanted, act, { class: "word-name" }), wordTools(word, wanted, act)),
      bar,
      h("span", { class: "probability number" }, percent(probability)),
      error,
      h("span", { class: "likelier number" }, times(likelier)),
    );
    return { element, bar, error };
  }

  #part(probability) {
    return `${((100 * probability) / this.full).toFixed(2)}%`;
  }
}

/** Create the button of a word: a click adds or removes it, a shift-click excludes it. */
function wordButton(word, wanted, act, props, ...children) {
  const isIn = wanted.has(word.toLowerCase());
  const press = (event) => {
    if (event.shiftKey) act.exclude(word);
    else if (isIn) act.drop(word);
    else act.add(word);
  };
  return h(
    "button",
    {
      type: "button",
      title: isIn ? `Remove ${word} from the search` : `Add ${word}; with Shift, exclude it`,
      ...props,
      class: `${props.class} ${isIn ? (wanted.get(word.toLowerCase()) ? "is-wanted" : "is-avoided") : ""}`,
      "data-key": `word ${word}`,
      on: { click: press },
    },
    word,
    isIn ? h("span", { class: "visually-hidden" }, " (in the search)") : null,
    children,
  );
}

/** Create plus and minus buttons, for keyboards and touch screens. */
function wordTools(word, wanted, act) {
  const isIn = wanted.has(word.toLowerCase());
  return h(
    "span",
    { class: "word-tools" },
    isIn
      ? tool("×", `Remove ${word} from the search`, `drop ${word}`, () => act.drop(word))
      : tool("+", `Add ${word} to the search`, `add ${word}`, () => act.add(word)),
    tool("−", `Exclude ${word} from the search`, `exclude ${word}`, () => act.exclude(word)),
  );
}

function tool(sign, label, key, click) {
  const props = { type: "button", class: "tool", title: label, "aria-label": label, "data-key": key };
  return h("button", { ...props, on: { click } }, sign);
}
