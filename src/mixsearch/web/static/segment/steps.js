// The segments, and what they were before each step.

const MAX_STEPS = 200;

export class Steps {
  /** @type {import("./seeds.js").Segment[]} */
  segments = [];
  /** @type {import("./seeds.js").Segment[][]} */
  #past = [];
  /** @type {symbol | string | null} What the last change belongs to: all of a drag is one step. */
  #stroke = null;

  /** Start anew. @param {import("./seeds.js").Segment[]} segments */
  start(segments) {
    this.#past = [];
    this.segments = segments;
  }

  /**
   * Change the segments. Changes of one stroke are undone together.
   * @param {import("./seeds.js").Segment[]} segments
   * @param {symbol | string | null} stroke
   */
  change(segments, stroke) {
    if (stroke === null || stroke !== this.#stroke) this.#past = [...this.#past, this.segments].slice(-MAX_STEPS);
    this.#stroke = stroke;
    this.segments = segments;
  }

  get canUndo() {
    return this.#past.length > 0;
  }

  undo() {
    this.#stroke = null;
    this.segments = this.#past.pop() ?? this.segments;
  }
}
