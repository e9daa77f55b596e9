// What the user does to the segments: every act is a step that can be undone.

import * as seeds from "./seeds.js";

const MAX_STEPS = 200;

/** @typedef {import("./seeds.js").Segment} Segment */

export class Editor {
  /** @type {Segment[]} */
  segments = [];
  /** @type {Segment[][]} What they were before each step. */
  #past = [];
  /** @type {symbol | string | null} What the last change belongs to: all of a drag is one step. */
  #stroke = null;
  /** @type {number | null} The segment that clicks add pixels to. */
  #chosen = null;
  /** @type {number | null} The segment that was last clicked into being. */
  #last = null;

  /** Calls changed(before) after each step, with the segments before it. @param {(before: Segment[]) => void} changed */
  constructor(changed) {
    this.changed = changed;
  }

  get chosen() {
    return this.#chosen;
  }

  get canUndo() {
    return this.#past.length > 0;
  }

  /** Start anew: none of it can be undone. @param {Segment[]} segments */
  start(segments) {
    this.#past = [];
    this.segments = segments;
    this.#chosen = null;
    this.#last = segments.at(-1)?.id ?? null;
  }

  /** Choose the segment that clicks add pixels to; null for none. @param {number | null} id */
  choose(id) {
    this.#chosen = id;
  }

  /** Add a shape to the chosen segment, or to the last one, or start a segment with it. Return the segment. */
  add(points, toSame) {
    const into = this.#chosen ?? (toSame ? this.#last : null);
    const isKnown = this.segments.some(({ id }) => id === into);
    const changed = isKnown ? seeds.extend(this.segments, into, points) : seeds.begin(this.segments, points);
    const segment = isKnown ? changed.find(({ id }) => id === into) : changed.at(-1);
    this.#last = segment.id;
    this.#change(changed);
    return segment;
  }

  /** Add a pixel, unless it has a seed already. By key it goes to the nearest free column. Return the segment, if it was added. */
  addPixel(x, y, width, { toSame, byKey = false }) {
    const place = byKey ? seeds.freeColumn(this.segments, x, y, width) : x;
    return seeds.isTaken(this.segments, place, y) ? null : this.add([[place, y]], toSame);
  }

  /** Take a pixel out of the segment that covers it; what is no segment yet is the rest of the first. */
  exclude(x, y, index) {
    if (index < 0 || seeds.isTaken(this.segments, x, y)) return;
    const segment = this.segments[index];
    if (segment) this.#change(seeds.extend(this.segments, segment.id, [[x, y]], { isNot: true }));
    else this.#change(seeds.extend(this.segments, this.segments[0].id, [[x, y]]));
  }

  /** Move a shape. Moves of one stroke are undone together. */
  move(id, x, y, stroke) {
    const owner = this.segments.find(({ shapes }) => shapes.some((shape) => shape.id === id));
    if (!owner || seeds.isTaken(this.segments, x, y)) return;
    this.#last = owner.id;
    this.#change(seeds.move(this.segments, id, x, y), stroke);
  }

  remove(id) {
    this.#change(seeds.removeShape(this.segments, id));
  }

  removeSegment(id) {
    this.#change(seeds.removeSegment(this.segments, id));
  }

  rename(id, name) {
    this.#change(seeds.rename(this.segments, id, name), `name ${id}`);
  }

  clear() {
    this.#change([]);
  }

  undo() {
    if (this.canUndo) this.#step(/** @type {Segment[]} */ (this.#past.pop()), null);
  }

  /** Change the segments. Changes of one stroke are undone together. @param {Segment[]} segments @param {symbol | string | null} [stroke] */
  #change(segments, stroke = null) {
    if (stroke === null || stroke !== this.#stroke) this.#past = [...this.#past, this.segments].slice(-MAX_STEPS);
    this.#step(segments, stroke);
  }

  #step(segments, stroke) {
    const before = this.segments;
    this.#stroke = stroke;
    this.segments = segments;
    if (!segments.some(({ id }) => id === this.#chosen)) this.#chosen = null;
    this.changed(before);
  }
}
