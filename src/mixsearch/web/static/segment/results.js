// What the server found, kept with its segments until new results arrive.

/** @typedef {import("./seeds.js").Segment} Segment */

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

  /** Return where a click would help, in pixels of the answer; null if no segment is in doubt. */
  get doubtfulPixel() {
    const { suggested = null, segments = [] } = this.answer ?? {};
    return segments.some(({ verdict_code: code }) => code === "partial" || code === "unsure") ? suggested : null;
  }

  #arrange(found, before, after) {
    const known = new Map(before.map(({ id }, i) => [id, found[i]]));
    const rest = found.slice(before.length);
    this.list = [...after.map(({ id }) => known.get(id)), ...(after.length === 1 ? rest : [])];
  }
}
