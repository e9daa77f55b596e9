// Requests one at a time, and their results, which stay with their segments until new ones arrive.

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

/** @typedef {import("./seeds.js").Segment} Segment */

/** What the server found, kept with its segments until new results arrive. */
export class Results {
  /** @type {any[]} In the order of the segments; a single segment is followed by the rest. */
  list = [];
  /** @type {any} The last answer of the server, with the outlines that are shown. */
  answer = null;
  /** @type {string[]} By number; they never change. */
  colours = [];

  clear() {
    this.list = [];
    this.answer = null;
  }

  /** Take the answer about some segments; meanwhile they may have changed. @param {Segment[]} asked @param {Segment[]} segments */
  take(answer, asked, segments) {
    this.answer = answer;
    answer.segments.forEach(({ color: colour }, i) => (this.colours[i] = colour));
    this.#arrange(answer.segments, asked, segments);
  }

  /** Follow a change of the segments. @param {Segment[]} before @param {Segment[]} after */
  follow(before, after) {
    this.#arrange(this.list, before, after);
  }

  #arrange(found, before, after) {
    const known = new Map(before.map(({ id }, i) => [id, found[i]]));
    const rest = found.slice(before.length);
    this.list = [...after.map(({ id }) => known.get(id)), ...(after.length === 1 ? rest : [])];
  }
}
