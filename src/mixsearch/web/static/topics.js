// The view of topics: the search, its answer, and the address that brings both back.

import { get, pathOf, queryOf } from "./api.js";
import { alternativesSection } from "./alternatives.js";
import { Breadth } from "./breadth.js";
import { Documents } from "./documents.js";
import { h, replace } from "./dom.js";
import { Newest } from "./newest.js";
import { percent } from "./numbers.js";
import { afterPaint } from "./painting.js";
import { askable, swapped, wantedOf, withWord, withoutWord } from "./query.js";
import { Reader } from "./reader.js";
import { emptySearch, isBlank, nameOf, oddityOf, paramsOf, readSearch } from "./search.js";
import { SearchBox } from "./search-box.js";
import { titleOf, TopicCard } from "./topic-card.js";
import { topicTools } from "./topic-tools.js";
import { Trail } from "./trail.js";
import { trouble } from "./trouble.js";
import { badgeOf } from "./verdicts.js";
import { welcome } from "./welcome.js";

const DIM_AFTER = 150;
const ERRORS_AFTER = 400;
const SETTLED_AFTER = 1200;

export function show(root, state, page) {
  if (!page.index) {
    replace(root, h("p", { class: "card" }, "This server has no index of documents. Pictures can be segmented all the same."));
    return undefined;
  }
  const view = new Topics(root, page);
  view.open(state);
  return { update: (newState) => view.open(newState), close: () => view.close() };
}

class Topics {
  #newest = new Newest();
  #newestErrors = new Newest();
  #timers = {};
  #isSettled = true; // whether the search stands as a step of its own in the history
  #settleOnAnswer = false;
  #found = null; // the last answer and the search it answers, with its last word completed

  constructor(root, page) {
    this.page = page;
    this.search = emptySearch();
    this.box = new SearchBox(page.index, { typed: () => this.#typed(), entered: () => this.#entered(), cleared: () => this.#clear() });
    this.breadth = new Breadth({ moved: (finer) => this.#moved(finer), settled: () => this.#settle() });
    this.trail = new Trail(page.index, { chosen: (query) => this.#change(readSearch(new URLSearchParams(query))) });
    this.reader = new Reader(page, { like: (row) => this.#change({ ...emptySearch(), like: [String(row)] }) });
    this.likes = h("div", { class: "likes" });
    this.answer = h("div", { id: "answer" });
    const side = h("aside", { class: "side", "aria-label": "Search settings and past searches" }, this.breadth.element, this.trail.element);
    replace(root, this.box.element, this.likes, h("div", { class: "columns" }, side, this.answer), this.reader.element);
    document.addEventListener("keydown", this.#slash);
  }

  /** Show what an address asks for. */
  open(state) {
    this.#isSettled = true;
    this.search = readSearch(state);
    this.#settleOnAnswer = !isBlank(this.search);
    this.#showSearch();
    if (isBlank(this.search) && matchMedia("(hover: hover)").matches) this.box.input.focus();
    this.#ask();
  }

  close() {
    document.removeEventListener("keydown", this.#slash);
    this.#stop();
    this.reader.close();
  }

  // What a person does

  #typed() {
    performance.mark("typed");
    this.search = { ...this.search, q: this.box.text, like: this.box.text.trim() ? [] : this.search.like, alternative: 0 };
    this.#drift();
  }

  #moved(finer) {
    this.search = { ...this.search, finer, alternative: 0 };
    this.#drift();
  }

  /** Enter: what was found stands, with its last word completed. */
  #entered() {
    if (this.#isAnswered) {
      this.search = this.#found.asked = this.#found.search;
      this.#showSearch();
    }
    this.#settle();
  }

  #clear() {
    this.#change(emptySearch());
    this.box.input.focus();
  }

  /** A change that is still under way: the first makes a step of history, the others write over it. */
  #drift() {
    this.page.note(paramsOf(this.search), { push: this.#isSettled });
    this.#isSettled = false;
    this.#showLikes();
    this.#ask();
  }

  /** A change at one stroke: a step of its own. */
  #change(search) {
    this.search = search;
    this.page.note(paramsOf(search), { push: true });
    this.#settleOnAnswer = true;
    this.#showSearch();
    this.#ask();
  }

  get #act() {
    const words = (change) => this.#change({ ...this.#base, q: change(this.#base.q), like: [], alternative: 0 });
    return {
      add: (word) => words((q) => withWord(q, word)),
      exclude: (word) => words((q) => withWord(q, word, true)),
      drop: (word) => words((q) => withoutWord(q, word)),
      swap: (word, other) => words((q) => swapped(q, word, other)),
      read: (alternative) => this.#change({ ...this.#base, alternative }),
      order: (by) => this.#change({ ...this.#base, by }),
      ask: (q) => this.#change({ ...emptySearch(), q }),
      again: () => this.#ask(),
    };
  }

  /** The search that clicks build on: with its last word completed, if it was. */
  get #base() {
    return this.#isAnswered ? this.#found.search : this.search;
  }

  get #isAnswered() {
    return this.#found !== null && this.#found.asked === this.search;
  }

  // Asking

  async #ask() {
    this.#stop();
    const asked = this.search;
    const search = { ...asked, q: askable(asked.q) };
    if (isBlank(search)) return this.#showWelcome();
    this.#timers.dim = setTimeout(() => this.answer.classList.add("is-waiting"), DIM_AFTER);
    const params = { ...paramsOf(search), complete: search.q !== "" && this.box.isUnfinished };
    const result = await this.#newest.ask((signal) => get(pathOf(this.page.index, "topic"), params, { signal }));
    if (result === null) return undefined;
    clearTimeout(this.#timers.dim);
    this.answer.classList.remove("is-waiting");
    if (result.error) return this.#showTrouble(result.error);
    this.#found = { asked, answer: result.answer, search: search.q ? { ...search, q: result.answer.hint } : search };
    this.#showAnswer();
    if (this.#settleOnAnswer) this.#settle();
    else this.#timers.settle = setTimeout(() => this.#settle(), SETTLED_AFTER);
    this.#timers.errors = setTimeout(() => this.#withErrors(this.#found), ERRORS_AFTER);
    this.#timers.announce = setTimeout(() => this.#announce(this.#found.answer), ERRORS_AFTER);
    return undefined;
  }

  /** The answer with standard errors, which are asked for once; without them it stands as it is. */
  #withErrors(found) {
    found.withErrors ??= this.#askErrors(found);
    return found.withErrors;
  }

  async #askErrors(found) {
    const params = { ...paramsOf(found.search), errors: true, n_documents: 0 };
    const result = await this.#newestErrors.ask((signal) => get(pathOf(this.page.index, "topic"), params, { signal }));
    if (!result?.answer || found !== this.#found) return found.answer;
    this.card.addErrors(result.answer);
    return result.answer;
  }

  /** The search stands: the address says all of it, and the trail keeps it. */
  #settle() {
    clearTimeout(this.#timers.settle);
    this.#settleOnAnswer = !this.#isAnswered;
    if (!this.#isAnswered) return;
    this.#isSettled = true;
    const { search, answer } = this.#found;
    const params = paramsOf(search);
    this.page.note(params);
    this.trail.add({ search: queryOf(params).toString(), label: nameOf(search), oddity: oddityOf(search), words: titleOf(answer.words) });
  }

  #stop() {
    this.#newest.stop();
    this.#newestErrors.stop();
    Object.values(this.#timers).forEach(clearTimeout);
  }

  // Showing

  #showSearch() {
    this.box.text = this.search.q;
    this.breadth.value = this.search.finer;
    this.#showLikes();
  }

  #showLikes() {
    const name = nameOf({ ...this.search, q: "" });
    const isLike = this.search.like.length > 0;
    replace(this.likes, isLike ? h("span", { class: "chip like-chip" }, name, h("button", { type: "button", "aria-label": `Remove ${name}`, on: { click: () => this.#clear() } }, "×")) : null);
  }

  #showAnswer() {
    const found = this.#found;
    const { search, answer } = found;
    const params = paramsOf(search);
    const wanted = wantedOf(search.q);
    const tools = topicTools(this.page, params, () => this.#withErrors(found));
    const words = [...answer.words.map(({ word }) => word), ...[...wanted.keys()].filter((word) => wanted.get(word))];
    this.card = new TopicCard(answer, { name: nameOf(search), by: search.by, wanted, tools }, this.#act);
    const documents = new Documents(this.page, answer, params, words, { open: (i) => this.reader.open(documents, i) });
    this.#put(this.card.element, h("div", { class: "around" }, alternativesSection(answer, this.#act), documents.element));
    this.breadth.tell(answer);
    afterPaint(() => {
      performance.mark("painted");
      document.documentElement.dataset.painted = answer.hint;
    });
  }

  #showTrouble(error) {
    this.#found = null;
    this.#put(trouble(error, this.search.q, this.#act));
    this.breadth.tell(null);
    this.page.announce(error.message);
  }

  #showWelcome() {
    this.#found = null;
    this.answer.classList.remove("is-waiting");
    this.#put(welcome(this.page, this.#act));
    this.breadth.tell(null);
  }

  /** Show these in the place of the last answer, and keep the focus where it was, or near it. */
  #put(...children) {
    const held = this.answer.contains(document.activeElement) ? document.activeElement.dataset.key ?? "" : null;
    replace(this.answer, ...children);
    if (held === null) return;
    const same = held && this.answer.querySelector(`[data-key="${CSS.escape(held)}"]`);
    (same || this.answer.querySelector("h1"))?.focus({ preventScroll: Boolean(same) });
  }

  #announce(answer) {
    this.page.announce(`Topic: ${titleOf(answer.words)}. ${percent(answer.weight)} of the corpus, ${badgeOf(answer)}.`);
  }

  #slash = (event) => {
    const isTyping = event.target.closest?.("input, textarea, select, [contenteditable], dialog");
    if (event.key !== "/" || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    this.box.focus();
  };
}
