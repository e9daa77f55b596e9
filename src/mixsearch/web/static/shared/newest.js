// Of several questions, only the newest one may be answered.

import { isAbort } from "./api.js";

export class Newest {
  /** @type {AbortController | null} */
  #controller = null;

  /**
   * Give up the question before, and ask this one; the result is null where it was given up itself.
   * @param {(signal: AbortSignal) => Promise<any>} question
   * @returns {Promise<{answer?: any, error?: any} | null>}
   */
  async ask(question) {
    this.stop();
    const controller = new AbortController();
    this.#controller = controller;
    try {
      const answer = await question(controller.signal);
      return controller.signal.aborted ? null : { answer };
    } catch (error) {
      if (controller.signal.aborted || isAbort(error)) return null;
      return { error };
    }
  }

  stop() {
    this.#controller?.abort();
  }
}
