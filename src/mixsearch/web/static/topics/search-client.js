// Search requests, of which only the latest matters.

import { get, INDEX_CHANGED, pathOf, tagOf } from "../shared/api.js";
import { Newest } from "../shared/newest.js";
import { askable } from "../shared/query.js";
import { PAGE } from "./documents.js";
import { hasMarks, isBlank, paramsOf } from "./search.js";

/**
 * @typedef {object} Found
 * @property {import("./search.js").Search} asked
 * @property {import("./search.js").Search} search
 * @property {any} answer
 * @property {number} nDocuments
 * @property {string | null} tag the state of the index
 * @property {boolean} isFresh whether it was asked for since the index had changed
 * @property {Promise<any>} [withErrors]
 * @property {Promise<any>} [withConfidence]
 */

export class SearchClient {
  #newest = new Newest();
  #newestErrors = new Newest();
  #newestConfidence = new Newest();

  /** Calls changed() if the index has changed since an answer that more is asked about. */
  constructor(index, { changed }) {
    this.path = pathOf(index, "topic");
    this.changed = changed;
  }

  /**
   * Return the answer with the search as sent and as completed; an error; or null if aborted.
   * @param {import("./search.js").Search} asked
   * @param {{isUnfinished: boolean, nDocuments?: number, tag?: string | null, isFresh?: boolean}} how tag is the state that rows in the search are of
   * @returns {Promise<Found | {error: any} | null>}
   */
  async ask(asked, { isUnfinished, nDocuments = PAGE, tag = null, isFresh = false }) {
    const search = understood(asked);
    const params = { ...paramsOf(search), n_documents: nDocuments, complete: search.q !== "" && isUnfinished };
    const asking = { tag: hasMarks(search) ? tag : null, isFresh };
    const result = await this.#newest.ask((signal) => get(this.path, params, { signal, ...asking }));
    if (!result?.answer) return result && { error: result.error };
    const { answer } = result;
    return { asked, answer, nDocuments, tag: tagOf(answer), isFresh, search: search.q ? { ...search, q: answer.hint } : search };
  }

  /** Return the answer with standard errors, requested once; on failure, the answer as it was. */
  withErrors(found) {
    found.withErrors ??= this.#askMore(this.#newestErrors, found, { errors: true });
    return found.withErrors;
  }

  /** Return the answer with its confidence, which takes longest. */
  withConfidence(found) {
    found.withConfidence ??= this.#askMore(this.#newestConfidence, found, { errors: true, confidence: true });
    return found.withConfidence;
  }

  async #askMore(newest, { search, answer, tag, isFresh }, more) {
    const params = { ...paramsOf(search), ...more, n_documents: 0 };
    const result = await newest.ask((signal) => get(this.path, params, { signal, tag }));
    // Once only, since nobody has clicked: servers of different states behind one address would go on for ever.
    if (result?.error?.code === INDEX_CHANGED && !isFresh) this.changed();
    return result?.answer ?? answer;
  }

  stop() {
    for (const newest of [this.#newest, this.#newestErrors, this.#newestConfidence]) newest.stop();
  }
}

/** Return whether a search is empty. */
export function asksNothing(search) {
  return isBlank(understood(search));
}

function understood(search) {
  return { ...search, q: askable(search.q) };
}
