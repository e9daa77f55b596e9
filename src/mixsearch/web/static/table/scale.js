// Axes: from values to pixels, and round numbers or dates to mark.

import { plain } from "../shared/numbers.js";

const DAY = 86_400_000;
const MARGIN = 0.04;
// Of all values; a few wild ones may lie outside.
const SHOWN = 0.998;

/** A linear scale from values to pixels. */
export class Scale {
  /** The pixels of the ends of all values. */
  range = [0, 1];

  /** @param {number[]} values @param {boolean} isDate @param {number[]} wanted values that must be shown */
  constructor(values, isDate, wanted = []) {
    const sorted = values.filter(Number.isFinite).sort((a, b) => a - b);
    const tail = Math.floor(((1 - SHOWN) / 2) * sorted.length);
    const ends = [sorted[tail] ?? 0, sorted.at(-1 - tail) ?? 1, ...wanted.filter(Number.isFinite)];
    const [low, high] = [Math.min(...ends), Math.max(...ends)];
    const margin = MARGIN * (high - low) || 0.5;
    this.domain = [low - margin, high + margin];
    this.isDate = isDate;
  }

  at(value) {
    const [low, high] = this.domain;
    const [from, to] = this.range;
    return from + ((value - low) / (high - low)) * (to - from);
  }

  valueAt(pixel) {
    const [low, high] = this.domain;
    const [from, to] = this.range;
    return low + ((pixel - from) / (to - from)) * (high - low);
  }

  /** About n values to mark between two pixels, with their texts. */
  ticks(n, ...pixels) {
    const [low, high] = pixels.map((pixel) => this.valueAt(pixel)).sort((a, b) => a - b);
    const step = niceStep((high - low) / n);
    const first = Math.ceil(low / step);
    const values = Array.from({ length: Math.max(0, Math.floor(high / step) - first + 1) }, (_, i) => (first + i) * step);
    return values.map((value) => ({ value, text: this.isDate ? dateOf(value) : plain(Number(value.toPrecision(12))) }));
  }
}

function niceStep(rough) {
  const magnitude = 10 ** Math.floor(Math.log10(rough));
  return magnitude * (([1, 2, 5].find((each) => each * magnitude >= rough)) ?? 10);
}

/** Format days since 1970. */
export function dateOf(days) {
  return new Date(days * DAY).toISOString().slice(0, 10);
}
