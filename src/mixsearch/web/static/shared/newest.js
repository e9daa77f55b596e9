// Of several questions, only the newest one may be answered.

export class Newest {
  #controller = null;

  /** Give up the question before, and ask this one; the result is null where it was given up itself. */
  async ask(question) {
    this.stop();
    const controller = new AbortController();
    this.#controller = controller;
    try {
      const answer = await question(controller.signal);
      return controller.signal.aborted ? null : { answer };
    } catch (error) {
      if (controller.signal.aborted || error.name === "AbortError") return null;
      return { error };
    }
  }

  stop() {
    this.#controller?.abort();
  }
}
