// The topic found: its title, share, verdict and words.

import { h } from "../shared/dom.js";
import { chance, giveOrTake, percent, times, whole } from "../shared/numbers.js";
import { rove } from "../shared/roving.js";
import { badgeOf, explain, toneOf } from "../shared/verdicts.js";
import { WordBars } from "./word-bars.js";
import { wordButton } from "./word-buttons.js";
import { titleOf } from "../shared/topic-title.js";

// Skipped words are shown with buttons to replace them, and a weak hint by the verdict.
const SHOWN_ELSEWHERE = ["skipped_words", "weak_hint"];
const FACTS = {
  share: ["Share of the corpus", "How much of all documents is about it, ± one standard error"],
  within: ["Share of matching documents", "How much of the matching documents is about it, ± one standard error"],
  documents: ["Documents about it", "How many documents are about it, with a 95% interval"],
  lead: ["Lead over the next", "How many times as strongly the search matches this topic as the next best one"],
  confidence: ["Confidence", "The probability that the topic is what you searched for"],
};

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
        fact("lead", leadOf(answer)),
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

function leadOf({ separation }) {
  return separation === null ? "no other" : times(separation);
}
