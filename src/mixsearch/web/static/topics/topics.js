// The topics view: the current search, its answer, and its address.

import { queryOf } from "../shared/api.js";
import { AnswerPane } from "./answer-pane.js";
import { SearchClient, asksNothing } from "./search-client.js";
import { Breadth } from "./breadth.js";
import { h, replace } from "../shared/dom.js";
import { LikeChip } from "./like-chip.js";
import { chance, percent } from "../shared/numbers.js";
import { swapped, withWord, withoutWord } from "../shared/query.js";
import { Reader } from "./reader.js";
import { emptySearch, isBlank, nameOf, oddityOf, paramsOf, readSearch } from "./search.js";
import { SearchBox } from "./search-box.js";
import { titleOf } from "./topic-card.js";
import { Trail } from "./trail.js";
import { badgeOf } from "../shared/verdicts.js";

const DIM_AFTER = 150;
const ERRORS_AFTER = 400;
const SETTLED_AFTER = 1200;

export function show(root, state, page) {
  if (!page.index) {
    replace(root, h("p", { class: "card" }, "This server has no index of documents. Pictures can still be segmented."));
    return undefined;
  }
  const view = new Topics(root, page);
  view.open(state);
  return { update: (newState) => view.open(newState), close: () => view.close() };
}

class Topics {
  #timers = {};
  #isSettled = true; // whether the search has its own history entry
  #settleOnAnswer = false;
  /** @type {import("./search-client.js").Found | null} The last answer, if it stands. */
  #found = null;

  constructor(root, page) {
    this.page = page;
    this.search = emptySearch();
    this.client = new SearchClient(page.index);
    this.box = new SearchBox(page, {
      typed: () => this.#typed(),
      entered: () => this.#entered(),
      cleared: () => this.#clear(),
    });
    this.breadth = new Breadth({ moved: (narrower) => this.#moved(narrower), settled: () => this.#settle() });
    this.trail = new Trail(page.index, { chosen: (query) => this.#leap(readSearch(new URLSearchParams(query))) });
    this.reader = new Reader(page, { like: (row) => this.#leap({ ...emptySearch(), documents: [String(row)] }) });
    this.likes = new LikeChip(page.index, { removed: () => this.#clear() });
    this.pane = new AnswerPane(page, this.#acts());
    const side = h(
      "aside",
      { class: "side", "aria-label": "Breadth and past searches" },
      this.breadth.element,
      this.trail.element,
    );
    const columns = h("div", { class: "columns" }, side, this.pane.element);
    replace(root, this.box.element, this.likes.element, columns, this.reader.element);
    document.addEventListener("keydown", this.#slash);
  }

  /** Show the state of an address. */
  open(state) {
    this.#isSettled = true;
    this.#settleOnAnswer = true;
    this.search = readSearch(state);
    this.#showSearch();
    if (isBlank(this.search)) this.#invite();
    this.#ask();
  }

  /** Focus the box of an empty page, unless that opens an on-screen keyboard or steals the focus. */
  #invite() {
    if (document.activeElement === document.body && matchMedia("(hover: hover)").matches) this.box.input.focus();
  }

  close() {
    document.removeEventListener("keydown", this.#slash);
    this.#stop();
    this.reader.close();
  }

  // User actions

  #typed() {
    performance.mark("typed", { detail: { typed: this.box.text } });
    const documents = this.box.text.trim() ? [] : this.search.documents;
    this.#drift({ ...this.search, q: this.box.text, documents, alternative: 0 });
  }

  #moved(narrower) {
    this.#drift({ ...this.search, narrower, alternative: 0 });
  }

  /** Enter accepts the answer, with the last word completed. */
  #entered() {
    const found = this.#standing;
    if (found) {
      this.search = found.asked = found.search;
      this.#showSearch();
    }
    this.#settle();
  }

  #clear() {
    this.#change(emptySearch());
    this.box.input.focus();
  }

  #acts() {
    const words = (change) => this.#change({ ...this.#base, q: change(this.#base.q), documents: [], alternative: 0 });
    return {
      add: (word) => words((q) => withWord(q, word)),
      exclude: (word) => words((q) => withWord(q, word, true)),
      drop: (word) => words((q) => withoutWord(q, word)),
      swap: (word, other) => words((q) => swapped(q, word, other)),
      read: (alternative) => this.#leap({ ...this.#base, alternative }),
      order: (by) => this.#change({ ...this.#base, words_by: by }),
      search: (q) => this.#leap({ ...emptySearch(), q }),
      judge: () => this.#addConfidence(this.#found),
      openDocument: (documents, i) => this.reader.open(documents, i),
      again: () => this.#ask(),
    };
  }

  /** Change the search while typing or dragging: the first change adds a history entry, the others replace it. */
  #drift(search) {
    this.search = search;
    this.page.note(paramsOf(search), { push: this.#isSettled });
    this.#isSettled = false;
    this.likes.show(search);
    this.#ask();
  }

  /** Change the search in one step, with its own history entry. */
  #change(search) {
    this.search = search;
    this.page.note(paramsOf(search), { push: true });
    this.#settleOnAnswer = true;
    this.#showSearch();
    this.#ask();
  }

  /** Change to another topic and scroll to its top. */
  #leap(search) {
    this.#change(search);
    if (this.pane.element.getBoundingClientRect().top < 0) this.box.element.scrollIntoView();
  }

  /** Settle the search: write the full address and add it to the past searches. */
  #settle() {
    clearTimeout(this.#timers.settle);
    const found = this.#standing;
    this.#settleOnAnswer = found === null;
    if (found === null) return;
    this.#isSettled = true;
    const { search, answer } = found;
    const params = paramsOf(search);
    this.page.note(params);
    this.trail.add({
      search: queryOf(params).toString(),
      label: nameOf(search),
      oddity: oddityOf(search),
      words: titleOf(answer.words),
    });
  }

  /** The answer to the current search, if there is one. */
  get #standing() {
    return this.#found?.asked === this.search ? this.#found : null;
  }

  /** The search that clicks modify: the answered one, with its last word completed. */
  get #base() {
    return this.#standing?.search ?? this.search;
  }

  // Requests and answers

  async #ask() {
    this.#stop();
    if (asksNothing(this.search)) {
      this.#showNothing(() => this.pane.showWelcome());
      return;
    }
    this.#timers.dim = setTimeout(() => (this.pane.isWaiting = true), DIM_AFTER);
    const result = await this.client.ask(this.search, this.box.isUnfinished);
    if (result === null) return;
    clearTimeout(this.#timers.dim);
    if ("error" in result) {
      this.#showNothing(() => this.pane.showTrouble(result.error));
      this.page.announce(result.error.message);
      return;
    }
    this.#showFound(result);
  }

  #showFound(found) {
    this.#found = found;
    this.pane.showAnswer(found, () => found.withConfidence ?? this.client.withErrors(found));
    this.breadth.showUse(found.answer);
    document.title = `${nameOf(found.search)} · mixsearch`;
    if (this.#settleOnAnswer) this.#settle();
    else this.#timers.settle = setTimeout(() => this.#settle(), SETTLED_AFTER);
    this.#timers.errors = setTimeout(() => this.#addErrors(found), ERRORS_AFTER);
  }

  /** After a pause, announce the answer and request its standard errors. */
  async #addErrors(found) {
    const { words, weight } = found.answer;
    this.page.announce(`Topic: ${titleOf(words)}. ${percent(weight)} of the corpus, ${badgeOf(found.answer)}.`);
    const answer = await this.client.withErrors(found);
    if (found === this.#found) this.pane.addErrors(answer);
  }

  async #addConfidence(found) {
    this.pane.awaitConfidence();
    const answer = await this.client.withConfidence(found);
    if (found !== this.#found) return;
    this.pane.addConfidence(answer);
    this.page.announce(answer.confidence === null ? "The confidence did not come." : `${chance(answer.confidence)} sure.`);
  }

  #showNothing(showInstead) {
    this.#found = null;
    this.breadth.showUse(null);
    showInstead();
  }

  #showSearch() {
    this.box.text = this.search.q;
    this.breadth.value = this.search.narrower;
    this.likes.show(this.search);
  }

  #stop() {
    this.client.stop();
    Object.values(this.#timers).forEach(clearTimeout);
  }

  #slash = (event) => {
    const isTyping = event.target.closest?.("input, textarea, select, [contenteditable], dialog");
    if (event.key !== "/" || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    this.box.focus();
  };
}
