// Asks for the answer to a search, and then for what comes later: standard errors, groups, the confidence.

import { get, INDEX_CHANGED } from "../shared/api.js";
import { chance, percent } from "../shared/numbers.js";
import { titleOf } from "../shared/topic-title.js";
import { badgeOf } from "../shared/verdicts.js";
import { SearchClient } from "./search-client.js";

const DIM_AFTER = 150;
const ERRORS_AFTER = 400;
const RETRY_AFTER = 2000;

/** @typedef {import("./search-client.js").Found} Found */

export class AnswerLoader {
  #timers = {};
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
    this.client = new SearchClient(page.index, { changed: act.changed });
  }

  /** Stop waiting for anything. */
  stop() {
    this.#turn += 1;
    this.client.stop();
    Object.values(this.#timers).forEach(clearTimeout);
  }

  /** Ask; return whether an answer came and is shown. ready is awaited too, before it is. */
  async load(search, how, ready) {
    this.stop();
    const mine = this.#turn;
    this.pane.wait();
    this.#timers.dim = setTimeout(() => this.pane.dim(), DIM_AFTER);
    const [result] = await Promise.all([this.client.ask(search, how), ready]);
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
    this.pane.awaitConfidence();
    const answer = await this.client.withConfidence(found);
    if (found !== this.found) return;
    this.pane.addConfidence(answer);
    this.page.announce(answer.confidence === null ? "The confidence could not be computed." : `${chance(answer.confidence)} sure.`);
  }

  /** After a pause, announce the answer and request its standard errors. */
  async #addErrors(found) {
    const { words, weight } = found.answer;
    this.page.announce(`Topic: ${titleOf(words)}. ${percent(weight)} of the corpus, ${badgeOf(found.answer)}.`);
    this.pane.addGroups(found);
    const answer = await this.client.withErrors(found);
    if (found === this.found) this.pane.addErrors(answer);
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
