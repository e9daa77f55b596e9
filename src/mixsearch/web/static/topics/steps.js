// Which changes of a search are entries of the history: only those that the user meant.

import { paramsOf } from "./search.js";

/** @typedef {import("./search.js").Search} Search */

export class Steps {
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
