// Requests one at a time: changes made meanwhile are sent next.

const QUICK_PIXELS = 600_000; // pixels requested while clicking; downloads have all
const DIM_AFTER = 200;

export class Requests {
  #isAsking = false;
  #mustAsk = false;
  #isClosed = false;

  /** Calls askOnce(), and setBusy(isBusy, isSlow) as it begins, takes long and ends. @param {() => Promise<void>} askOnce */
  constructor(askOnce, setBusy) {
    this.askOnce = askOnce;
    this.setBusy = setBusy;
  }

  /** Whether the answer that arrives is about to be replaced. */
  get isOutdated() {
    return this.#mustAsk;
  }

  async ask() {
    this.#mustAsk = true;
    if (this.#isAsking) return;
    this.#isAsking = true;
    this.setBusy(true, false);
    const dim = setTimeout(() => this.setBusy(true, true), DIM_AFTER);
    while (this.#mustAsk && !this.#isClosed) {
      this.#mustAsk = false;
      await this.askOnce();
    }
    clearTimeout(dim);
    this.setBusy(false, false);
    this.#isAsking = false;
  }

  close() {
    this.#isClosed = true;
  }
}

/** Return the thinning factor: every n-th pixel of every n-th row is requested. */
export function everyOf({ width, height }, isCoarse) {
  const every = Math.max(Math.round(Math.sqrt((width * height) / QUICK_PIXELS)), 1);
  return isCoarse ? 2 * every : every;
}
