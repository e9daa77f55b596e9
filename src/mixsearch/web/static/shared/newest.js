// Requests of which only the latest matters.

import { isAbort } from "./api.js";

export class Newest {
  /** @type {AbortController | null} */
  #controller = null;

  /**
   * Abort the previous request and send this one. The result is null if it is aborted itself.
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
