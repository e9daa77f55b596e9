// The comparison of pinned topics: their words on one scale, over time, and what they have in common.

import { get, pathOf, url } from "../shared/api.js";
import { h, replace } from "../shared/dom.js";
import { isPlainClick } from "../shared/links.js";
import { Newest } from "../shared/newest.js";
import { overlapSection } from "./overlaps.js";
import { pinsOf, setPins } from "../shared/pins.js";
import { downloads, linkButton } from "../shared/take-along.js";
import { Timelines } from "./timelines.js";
import { topicHead } from "./topic-heads.js";
import { wordMatrix } from "./word-matrix.js";

const N_COLORS = 8;
const MAX_WORDS = 200; // that the server accepts

export function show(root, state, page) {
  if (!page.index) {
    replace(root, h("p", { class: "card" }, "This server has no index of documents. Pictures can still be segmented."));
    return undefined;
  }
  const view = new Compare(root, page);
  view.open(state);
  return { update: (newState) => view.open(newState), close: () => view.close() };
}

class Compare {
  #newest = new Newest();
  /** @type {Timelines | null} */
  #timelines = null;

  constructor(root, page) {
    this.root = root;
    this.page = page;
  }

  /** Show the topics of an address, or those that are pinned. */
  open(state) {
    const { page } = this;
    const topics = state.has("topic") ? state.getAll("topic").slice(0, page.settings.max_compared) : pinsOf(page.index);
    setPins(page, topics); // a shared link sets the pins
    this.topics = topics;
    this.other = page.indexes.find(({ name }) => name === state.get("beside") && name !== page.index.name) ?? null;
    return topics.length === 0 ? this.#put(nothing(page)) : this.#ask();
  }

  close() {
    this.#newest.stop();
    this.#timelines?.close();
  }

  async #ask() {
    const { topics, other, page } = this;
    if (!this.root.firstChild) replace(this.root, h("div", { class: "skeleton compare-skeleton" }));
    const result = await this.#newest.ask((signal) => askBoth(page.index, other, topics, signal));
    if (result?.error) {
      replace(this.root);
      page.showError(result.error);
    }
    if (result?.answer) this.#put(this.#comparison(result.answer));
  }

  /** Replace the content; a lost focus moves to the title. */
  #put(...children) {
    const hadFocus = this.root.contains(document.activeElement);
    replace(this.root, ...children);
    if (hadFocus) this.root.querySelector("h1").focus();
  }

  #comparison({ own, beside }) {
    const { topics, page, other } = this;
    const answers = [...own.topics, ...(beside?.topics ?? [])];
    const heads = answers.map((answer, i) => topicHead(answer, i % N_COLORS, this.#actsOn(i)));
    const found = answers.filter((answer) => !answer.error);
    const isKnown = own.topics.map((answer) => !answer.error);
    this.#timelines?.close();
    this.#timelines = new Timelines(page, topics.filter((_, i) => isKnown[i]), own.topics.filter((_, i) => isKnown[i]).map(({ hint }) => hint));
    return [
      h("header", { class: "compare-head" }, h("h1", { tabindex: "-1" }, "Topics side by side"), this.#tools(found)),
      h("p", { class: "muted small" }, "The share of each word in each topic. All bars have the same scale."),
      wordMatrix(answers, joinWords(own, beside, found), heads),
      isKnown.some(Boolean) ? this.#timelines.element : null,
      isKnown.filter(Boolean).length > 1 ? overlapSection(own.topics, own.own_overlaps, own.overlaps) : null,
      other ? h("p", { class: "small muted" }, `Time and overlaps are those of ${page.index.name}.`) : null,
    ];
  }

  #actsOn(i) {
    const { topics, page, other } = this;
    const isOther = i >= topics.length;
    const params = new URLSearchParams(topics[i % topics.length]);
    const index = other && (isOther ? other : page.index).name;
    if (isOther) params.set("index", other?.name ?? "");
    const href = isOther ? url("./", params) : page.addressOf("topics", params);
    return {
      index,
      href,
      open: () => (isOther ? location.assign(href) : page.go("topics", params)),
      remove: isOther ? null : () => this.#remove(i),
    };
  }

  #remove(i) {
    const others = this.topics.filter((_, j) => j !== i);
    setPins(this.page, others);
    this.page.go("compare", { topic: others, beside: this.other?.name });
  }

  #tools(found) {
    const { page, topics, other } = this;
    const files = {
      csv: url(pathOf(page.index, "compare.csv"), { topic: topics }),
      json: url(pathOf(page.index, "compare"), { topic: topics }),
      html: url(pathOf(page.index, "report.html"), { topic: topics }),
    };
    const choose = (event) => page.go("compare", { topic: topics, beside: event.target.value });
    const others = page.indexes.filter(({ name }) => name !== page.index.name);
    const beside = h(
      "label",
      { class: "small" },
      "Beside the same in ",
      h("select", { id: "beside", on: { change: choose } }, h("option", { value: "" }, "no other index"), others.map(({ name }) => h("option", { value: name, selected: name === other?.name }, name))),
    );
    return h("div", { class: "toolbar" }, others.length > 0 ? beside : null, linkButton(page), downloads(files, page, () => Promise.resolve(found)));
  }
}

/** Ask one or two indexes for the same topics, with the words of both. */
async function askBoth(index, other, topics, signal) {
  const ask = (each, words = []) => get(pathOf(each, "compare"), { topic: topics, words }, { signal });
  if (other === null) return { own: await ask(index), beside: null };
  const firsts = await Promise.all([ask(index), ask(other)]);
  const words = [...new Set(firsts.flatMap((answer) => answer.words.map(({ word }) => word)))].slice(0, MAX_WORDS);
  const [own, beside] = await Promise.all([ask(index, words), ask(other, words)]);
  return { own, beside };
}

/** Return the words of one or two indexes with their probabilities in all topics; those of several topics are shared. */
function joinWords(own, beside, found) {
  const others = new Map((beside?.words ?? []).map((each) => [each.word, each.probabilities]));
  const rows = own.words.map(({ word, probabilities }) => ({ word, probabilities: [...probabilities, ...(others.get(word) ?? [])] }));
  const nTopics = (word) => found.filter(({ words }) => words.some((each) => each.word === word)).length;
  const most = ({ probabilities }) => Math.max(...probabilities.map((each) => each ?? 0));
  return rows.map((each) => ({ ...each, isShared: nTopics(each.word) > 1 })).sort((a, b) => most(b) - most(a));
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
    h("p", { class: "muted" }, "Find a topic and press ", h("b", {}, "Pin to compare"), " at the top of its card. Pin another one to see both here side by side."),
    h("p", {}, h("a", { class: "button", href: page.addressOf("topics"), on: { click: follow } }, "Find a topic")),
  );
}
