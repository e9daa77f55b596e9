// Which changes of a search are entries of the history and past searches: only those that the user meant.

import { queryOf } from "../shared/api.js";
import { oddityOf, paramsOf } from "./search.js";
import { titleOf } from "../shared/topic-title.js";

/** @typedef {import("./search.js").Search} Search */

export class Steps {
  #isOpen = false; // whether typing or the slider still changes the entry
  /** @type {string | null} */
  #kind = null;
  #hasStood = false; // whether the answer was there for long enough to be read
  /** @type {string | null} The past search that the entry has made so far. */
  #draft = null;

  constructor(page, trail) {
    this.page = page;
    this.trail = trail;
  }

  /**
   * Return whether a change by typing or by the slider belongs to the same entry as the one before.
   * @param {Search} before
   * @param {Search} after
   * @param {"typed" | "moved"} kind
   */
  goesOn(before, after, kind) {
    return this.#isOpen && kind === this.#kind && (!this.#hasStood || isContinued(before.q, after.q));
  }

  /** Follow a change by typing or by the slider. */
  follow(before, after, kind) {
    const goesOn = this.goesOn(before, after, kind);
    this.page.note(paramsOf(after), { push: !goesOn });
    if (goesOn) this.page.keep({ documents: undefined, scroll: undefined }); // those of the search before
    else this.#draft = null;
    this.#isOpen = true;
    this.#kind = kind;
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
    this.#draft = null;
  }

  /** Note that the answer was there for a while. */
  stand() {
    this.#hasStood = true;
  }

  /** Write the search as it was understood to the address and to the past searches. */
  settle({ search, answer }, label) {
    const key = queryOf(paramsOf({ ...search, words_by: "typical", sort_by: "", descending: false })).toString();
    this.page.note(paramsOf(search));
    this.trail.add({ search: key, label, oddity: oddityOf(search), words: titleOf(answer.words) }, this.#draft);
    this.#draft = this.#isOpen ? key : null;
  }
}

/** Return whether the text is the same, or its last word goes on. */
function isContinued(before, after) {
  return after === before || (/\S$/u.test(before) && after.startsWith(before) && /\S/u.test(after[before.length]));
}
