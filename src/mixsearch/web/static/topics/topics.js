// The topics view: the current search, its answer, and its address.

import { h, replace } from "../shared/dom.js";
import { hasCommonWord, swapped, withoutWord, withWord } from "../shared/query.js";
import { AnswerLoader, asksNothing } from "./answer-loader.js";
import { AnswerPane } from "./answer-pane.js";
import { PAGE } from "./documents.js";
import { FilterBox, isAboutFilter } from "./filter-box.js";
import { Reader } from "./reader.js";
import { SavedTopics } from "./saved-topics.js";
import { MarkedDocuments, SearchBox } from "./search-box.js";
import { emptySearch, hasMarks, isBlank, nameOf, paramsOf, readSearch, withMark, withoutHint, withoutMarks } from "./search.js";

const SETTLED_AFTER = 1200;
const ASKED_AGAIN = "The index has changed since that answer, so the question was asked again.";
const ASKED_WITHOUT_MARKS = "The index has changed, and its rows may be other documents now: marked documents were removed from the question.";

export function show(root, state, page) {
  if (!page.index) {
    import("./welcome.js").then(({ nothingServed }) => replace(root, nothingServed(page)), page.showError);
    return undefined;
  }
  const view = new Topics(root, page);
  view.open(state);
  return { update: (newState) => view.open(newState), close: () => view.close() };
}

class Topics {
  /** @type {number | undefined} */
  #timer;
  #settleOnAnswer = false; // whether the search is meant as it is, without waiting for the end of typing
  #named = Promise.resolve(); // when the names of documents in the search are known
  /** @type {string | null} The state of the index that rows on the page are of. */
  #tag = null;

  constructor(root, page) {
    this.page = page;
    this.search = emptySearch();
    this.box = new SearchBox(page, {
      typed: () => this.#typed(),
      entered: () => this.#entered(),
      cleared: () => this.#clear(),
    });
    this.filter = new FilterBox(page.index, { changed: (filter) => this.#filtered(filter) });
    this.saved = new SavedTopics(page, { chosen: (query) => this.#leap(readSearch(new URLSearchParams(query))) });
    this.steps = new Steps(page);
    this.reader = new Reader(page, {
      like: (row) => this.#leap({ ...withoutHint(this.search), documents: [String(row)] }),
      mark: (marks) => this.#mark(marks),
      changed: () => this.#askAgain(),
    });
    this.marked = new MarkedDocuments(page.index, {
      removed: (row) => this.#mark([[row, null]]),
      cleared: () => this.#change(withoutMarks(this.#base)),
    });
    this.pane = new AnswerPane(page, this.#acts());
    this.answers = new AnswerLoader(page, this.pane, {
      found: (found) => this.#showFound(found),
      failed: (error) => this.#showFailed(error),
      again: () => this.#ask(),
      changed: () => this.#askAgain(),
    });
    const side = h("aside", { class: "side", "aria-label": "Saved topics" }, this.saved.element);
    const columns = h("div", { class: "columns" }, side, this.pane.element);
    this.skips = skipButtons(this.pane.element);
    replace(root, this.skips, this.box.element, this.marked.element, this.filter.element, columns, this.reader.element);
    document.addEventListener("keydown", this.#slash);
  }

  /** Show the state of an address, with as many documents and as far down as it was left. */
  open(state) {
    const search = readSearch(state);
    const written = (each) => JSON.stringify(paramsOf(each));
    if (this.#standing && [this.search, this.#standing.search].some((shown) => written(shown) === written(search))) return;
    this.steps.close();
    this.search = search;
    this.#tag = this.page.kept.tag ?? null;
    this.page.keep({ tag: undefined }); // another search in this entry has rows of another answer
    this.#settleOnAnswer = !isBlank(search);
    this.#showSearch();
    if (isBlank(search)) this.#invite();
    this.#ask(this.page.kept);
  }

  /** Focus the box of an empty page, unless that opens an on-screen keyboard or steals the focus. */
  #invite() {
    if (document.activeElement === document.body && matchMedia("(hover: hover)").matches) this.box.input.focus();
  }

  close() {
    document.removeEventListener("keydown", this.#slash);
    this.#stop();
    this.reader.close();
    this.saved.close();
  }

  // User actions

  #typed() {
    const { text: q } = this.box;
    // Marks are about the words that they were made for: other words are another search.
    const marks = q.trim() === "" || hasCommonWord(this.search.q, q) ? {} : { documents: [], not_documents: [] };
    this.#drift({ ...this.search, ...marks, q, alternative: 0 });
  }

  /** Enter accepts the answer, with the last word completed. */
  #entered() {
    const found = this.#standing;
    if (found) {
      this.search = found.asked = found.search;
      this.#showSearch();
    }
    this.#settleOnAnswer = found === null;
    this.#settle();
    if (found) this.steps.close();
  }

  #clear() {
    this.#change(withoutHint(this.search));
    this.box.input.focus();
  }

  #filtered(filter) {
    const isOther = filter.where !== this.search.where || filter.within !== this.search.within;
    if (isOther) this.#change({ ...this.#base, ...filter, alternative: 0 });
  }

  #acts() {
    const words = (change) => this.#change({ ...this.#base, q: change(this.#base.q), alternative: 0 });
    return {
      add: (word) => words((q) => withWord(q, word)),
      exclude: (word) => words((q) => withWord(q, word, true)),
      drop: (word) => words((q) => withoutWord(q, word)),
      swap: (word, other) => words((q) => swapped(q, word, other)),
      read: (alternative) => this.#leap({ ...this.#base, alternative }),
      order: (by) => this.#adjust({ ...this.#base, words_by: by }),
      sort: (sortBy, descending) => this.#adjust({ ...this.#base, sort_by: sortBy, descending }),
      search: (q) => this.#leap({ ...withoutHint(this.search), q }),
      filter: (where) => this.#filtered({ where, within: where !== "" && this.search.within }),
      judge: () => this.answers.addConfidence(),
      mark: (marks) => this.#mark(marks),
      saved: (search) => this.saved.edit(search),
      openDocument: (documents, i) => this.reader.open(documents, i),
      again: () => this.#ask(),
      changed: () => this.#askAgain(),
    };
  }

  /** Mark documents, given as [row, mark], as about the topic or as not about it; the answer follows. */
  #mark(marks) {
    this.#change(marks.reduce((search, [row, mark]) => withMark(search, String(row), mark), this.#base));
    const [, mark] = marks[marks.length - 1];
    this.page.announce({ yes: "Marked as about the topic.", no: "Marked as not about the topic." }[mark] ?? "Mark removed.");
  }

  /** Change the search while typing. What was read and is left stays behind as it was understood. */
  #drift(search) {
    if (this.#settleOnAnswer) this.steps.close(); // it was meant, though its answer has not come
    if (!this.steps.goesOn(this.search, search)) this.#settle();
    this.steps.follow(this.search, search);
    this.search = search;
    this.#settleOnAnswer = false;
    this.#named = this.marked.show(search, this.#tag);
    this.#ask();
  }

  /** Change the search in one step, with its own history entry. */
  #change(search) {
    this.#settle();
    this.steps.add(search);
    this.search = search;
    this.#settleOnAnswer = true;
    this.#showSearch();
    this.#ask();
  }

  /** Change how the same topic is shown, without a history entry. */
  #adjust(search) {
    this.page.note(paramsOf(search));
    this.page.keep({ documents: undefined });
    this.search = search;
    this.#settleOnAnswer = true;
    this.#ask(this.page.kept);
  }

  /** Change to another topic and scroll to its top. */
  #leap(search) {
    this.#change(search);
    if (this.pane.element.getBoundingClientRect().top < 0) this.box.element.scrollIntoView();
  }

  /** Settle the search: write the address as it was understood. */
  #settle() {
    clearTimeout(this.#timer);
    if (this.#standing) this.page.note(paramsOf(this.#standing.search));
  }

  /** The answer to the current search, if there is one. */
  get #standing() {
    const { found } = this.answers;
    return found?.asked === this.search ? found : null;
  }

  /** The search that clicks modify: the answered one, with its last word completed. */
  get #base() {
    return this.#standing?.search ?? this.search;
  }

  // Requests and answers

  async #ask({ documents = PAGE, scroll = null, isFresh = false } = {}) {
    this.#stop();
    if (asksNothing(this.search)) {
      this.#showNothing(this.page.index.name);
      this.pane.showWelcome();
      return;
    }
    const how = { isUnfinished: this.box.isUnfinished, nDocuments: documents, tag: this.#tag, isFresh };
    const isShown = await this.answers.load(this.search, how, this.#named);
    if (isShown && scroll !== null) window.scrollTo(0, scroll);
  }

  /** Ask the question again, since rows of its answer are of an index that has changed: those in the question too. */
  #askAgain() {
    const isMarked = hasMarks(this.search);
    if (isMarked) {
      const hasWords = this.search.q.trim() !== "";
      this.search = withoutMarks(hasWords ? this.search : (this.answers.found?.search ?? this.search));
      this.#settleOnAnswer = true;
      this.#showSearch();
    }
    this.answers.found = null;
    this.page.note(paramsOf(this.search));
    this.page.showError(new Error(isMarked ? ASKED_WITHOUT_MARKS : ASKED_AGAIN));
    this.#ask({ isFresh: true });
  }

  #showFailed(error) {
    this.#showNothing(nameOf(this.search));
    this.pane.showTrouble(error);
    if (isAboutFilter(error)) this.filter.showError();
  }

  #showFound(found) {
    this.#tag = found.tag;
    this.#showControls();
    const name = this.marked.nameOf(found.search);
    this.filter.showMatching(found.answer.n_matching);
    this.pane.showAnswer(found, name);
    document.title = `${name} · mixsearch`;
    if (this.#settleOnAnswer) {
      this.#settle();
      this.steps.close();
    } else {
      this.#timer = setTimeout(() => this.#stand(), SETTLED_AFTER);
    }
  }

  #stand() {
    this.steps.stand();
    this.#settle();
  }

  #showNothing(name) {
    this.answers.found = null;
    this.#showControls();
    document.title = `${name} · mixsearch`;
  }

  /** Show the filter if there is a search for it to act on. */
  #showControls() {
    this.skips.hidden = this.answers.found === null;
    this.filter.isShown = !asksNothing(this.search) || this.search.where !== "";
  }

  #showSearch() {
    this.box.text = this.search.q;
    this.filter.show(this.search);
    this.#named = this.marked.show(this.search, this.#tag);
  }

  #stop() {
    this.answers.stop();
    clearTimeout(this.#timer);
  }

  #slash = (event) => {
    const isTyping = event.target.closest?.("input, textarea, select, [contenteditable], dialog");
    if (event.key !== "/" || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    this.box.focus();
  };
}

/** @typedef {import("./search.js").Search} Search */

/** Which changes of a search are entries of the history: only those that the user meant. */
class Steps {
  #isOpen = false; // whether typing still changes the entry
  #hasStood = false; // whether the answer was there for long enough to be read

  constructor(page) {
    this.page = page;
  }

  /**
   * Return whether a change by typing belongs to the same entry as the one before.
   * @param {Search} before
   * @param {Search} after
   */
  goesOn(before, after) {
    return this.#isOpen && (!this.#hasStood || isContinued(before.q, after.q));
  }

  /** Follow a change by typing. */
  follow(before, after) {
    const goesOn = this.goesOn(before, after);
    this.page.note(paramsOf(after), { push: !goesOn });
    if (goesOn) this.page.keep({ documents: undefined, scroll: undefined }); // those of the search before
    this.#isOpen = true;
    this.#hasStood = false;
  }

  /** Add an entry for a change in one step. */
  add(search) {
    this.page.note(paramsOf(search), { push: true });
    this.close();
  }

  /** End the entry: what follows is another one. */
  close() {
    this.#isOpen = false;
  }

  /** Note that the answer was there for a while. */
  stand() {
    this.#hasStood = true;
  }
}

/** Return whether the text is the same, or its last word goes on. */
function isContinued(before, after) {
  return after === before || (/\S$/u.test(before) && after.startsWith(before) && /\S/u.test(after[before.length]));
}

/** Create the buttons for the answer in a pane. */
function skipButtons(pane) {
  const skip = (label, selector) =>
    h("button", { type: "button", class: "button plain skip", on: { click: () => pane.querySelector(selector)?.focus() } }, label);
  return h("div", { class: "skips" }, skip("Skip to the topic", "h1"), skip("Skip to the documents", "#documents-title"));
}
