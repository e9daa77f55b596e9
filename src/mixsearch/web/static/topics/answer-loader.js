// Asks for the answer to a search, and then for what comes later: standard errors, groups, the confidence.

import { get, INDEX_CHANGED, Newest, pathOf, tagOf } from "../shared/api.js";
import { chance, percent } from "../shared/numbers.js";
import { askable } from "../shared/query.js";
import { badgeOf, titleOf } from "../shared/wording.js";
import { PAGE } from "./documents.js";
import { hasMarks, isBlank, paramsOf } from "./search.js";

const DIM_AFTER = 150;
const ERRORS_AFTER = 400;
const RETRY_AFTER = 2000;

/**
 * @typedef {object} Found
 * @property {import("./search.js").Search} asked
 * @property {import("./search.js").Search} search
 * @property {any} answer
 * @property {number} nDocuments
 * @property {string | null} tag the state of the index
 * @property {boolean} isFresh whether it was asked for since the index had changed
 */

export class AnswerLoader {
  #timers = {};
  #newest = new Newest();
  #newestErrors = new Newest();
  #newestConfidence = new Newest();
  #turn = 0;
  /** @type {Found | null} The last answer, if it stands. */
  found = null;

  /**
   * @param {any} page
   * @param {import("./answer-pane.js").AnswerPane} pane
   * @param {{found: (found: Found) => void, failed: (error: any) => void, again: () => void, changed: () => void}} act
   */
  constructor(page, pane, act) {
    this.page = page;
    this.pane = pane;
    this.act = act;
  }

  get #path() {
    return pathOf(this.page.index, "topic");
  }

  /** Stop waiting for anything. */
  stop() {
    this.#turn += 1;
    for (const newest of [this.#newest, this.#newestErrors, this.#newestConfidence]) newest.stop();
    Object.values(this.#timers).forEach(clearTimeout);
  }

  /** Ask; return whether an answer came and is shown. ready is awaited too, before it is. */
  async load(search, how, ready) {
    this.stop();
    const mine = this.#turn;
    this.pane.wait();
    this.#timers.dim = setTimeout(() => this.pane.dim(), DIM_AFTER);
    const [result] = await Promise.all([this.#request(search, how), ready]);
    if (result === null || mine !== this.#turn) return false;
    clearTimeout(this.#timers.dim);
    if ("error" in result && result.error.code === INDEX_CHANGED) {
      this.act.changed();
      return false;
    }
    if ("error" in result) {
      this.found = null;
      this.act.failed(result.error);
      this.page.announce(result.error.message);
      if (result.error.code === "no_connection") this.#awaitServer();
      return false;
    }
    this.found = result;
    this.act.found(result);
    this.#timers.errors = setTimeout(() => this.#addErrors(result), ERRORS_AFTER);
    return true;
  }

  /** Ask how likely the topic is the one that was meant. */
  async addConfidence() {
    const { found } = this;
    if (found === null) return;
    this.pane.card?.awaitConfidence();
    const answer = await this.#askMore(this.#newestConfidence, found, { errors: true, confidence: true });
    if (found !== this.found) return;
    this.pane.card?.addConfidence(answer);
    this.page.announce(answer.confidence === null ? "The confidence could not be computed." : `${chance(answer.confidence)} sure.`);
  }

  /** After a pause, announce the answer and request its standard errors. */
  async #addErrors(found) {
    const { words, weight } = found.answer;
    this.page.announce(`Topic: ${titleOf(words)}. ${percent(weight)} of the corpus, ${badgeOf(found.answer)}.`);
    this.pane.addGroups(found);
    const answer = await this.#askMore(this.#newestErrors, found, { errors: true });
    if (found === this.found) this.pane.card?.addErrors(answer);
  }

  /**
   * Return the answer with the search as sent and as completed; an error; or null if aborted.
   * @param {import("./search.js").Search} asked
   * @param {{isUnfinished: boolean, nDocuments?: number, tag?: string | null, isFresh?: boolean}} how tag is the state that rows in the search are of
   * @returns {Promise<Found | {error: any} | null>}
   */
  async #request(asked, { isUnfinished, nDocuments = PAGE, tag = null, isFresh = false }) {
    const search = understood(asked);
    const params = { ...paramsOf(search), n_documents: nDocuments, complete: search.q !== "" && isUnfinished };
    const asking = { tag: hasMarks(search) ? tag : null, isFresh };
    const result = await this.#newest.ask((signal) => get(this.#path, params, { signal, ...asking }));
    if (!result?.answer) return result && { error: result.error };
    const { answer } = result;
    return { asked, answer, nDocuments, tag: tagOf(answer), isFresh, search: search.q ? { ...search, q: answer.hint } : search };
  }

  /** Return the answer with more of it; on failure, the answer as it was. */
  async #askMore(newest, { search, answer, tag, isFresh }, more) {
    const params = { ...paramsOf(search), ...more, n_documents: 0 };
    const result = await newest.ask((signal) => get(this.#path, params, { signal, tag }));
    // Once only, since nobody has clicked: servers of different states behind one address would go on for ever.
    if (result?.error?.code === INDEX_CHANGED && !isFresh) this.act.changed();
    return result?.answer ?? answer;
  }

  /** Ask again when the server is back. */
  #awaitServer() {
    this.#timers.again = setTimeout(async () => {
      try {
        await get("api/health");
      } catch {
        this.#awaitServer();
        return;
      }
      if (this.found === null) this.act.again();
    }, RETRY_AFTER);
  }
}

/** Return whether a search is empty. */
export function asksNothing(search) {
  return isBlank(understood(search));
}

function understood(search) {
  return { ...search, q: askable(search.q) };
}
