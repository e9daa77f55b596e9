// What a plot shows: points and examples, with axes of round numbers or dates.

import { replace, svg } from "../shared/dom.js";
import { plain } from "../shared/numbers.js";

const [MIN_TICKS, MAX_TICKS] = [3, 6];
const PIXELS_PER_TICK = 110;
const ROOM = "table-room"; // id
const DAY = 86_400_000;
const MARGIN = 0.04;
// Of all values; a few wild ones may lie outside.
const SHOWN = 0.998;

/**
 * Return the drawing of a state: points, and what was found if there is an answer.
 * @returns {import("./plot.js").Drawing}
 */
export function drawingOf(info, state, { points, found }) {
  const { x, y } = state;
  const isDate = (name) => info.columns.some((column) => column.name === name && column.kind === "date");
  return {
    x: points.x,
    y: points.y,
    names: [x || "First direction", y || "Second direction"],
    areDates: [isDate(x), isDate(y)],
    rows: points.rows,
    membership: found?.membership ?? null,
    like: state.like,
    notLike: state.notLike,
  };
}

/**
 * Draw all of it anew.
 * @param {SVGSVGElement} overlay
 * @param {import("./plot.js").Drawing} drawing
 * @param {{scales: {x: Scale, y: Scale}, size: number[], room: {x: number, y: number, width: number, height: number}, examples: number[], cursor: number | null}} where
 */
export function drawOverlay(overlay, { x, y, rows, like, names }, { scales, size: [width, height], room, examples, cursor }) {
  /** @returns {[number, number]} */
  const at = (i) => [scales.x.at(x[i]), scales.y.at(y[i])];
  overlay.setAttribute("viewBox", `0 0 ${width} ${height}`);
  replace(
    overlay,
    svg("clipPath", { id: ROOM }, svg("rect", room)),
    axes(scales, room),
    svg(
      "g",
      { "clip-path": `url(#${ROOM})` },
      examples.map((i) => mark(at(i), like.includes(rows[i]))),
      cursor === null ? null : cross(at(cursor)),
    ),
    svg("text", { class: "axis-name", x: room.x + room.width / 2, y: height - 6 }, names[0]),
    svg("text", { class: "axis-name", transform: `translate(14 ${room.y + room.height / 2}) rotate(-90)` }, names[1]),
  );
}

function axes(scales, room) {
  const [right, bottom] = [room.x + room.width, room.y + room.height];
  const n = Math.max(MIN_TICKS, Math.min(MAX_TICKS, Math.floor(room.width / PIXELS_PER_TICK)));
  return [
    scales.x.ticks(n, room.x, right).map(({ value, text }) => {
      const x = scales.x.at(value);
      return [svg("path", { class: "grid", d: `M${x} ${room.y}V${bottom}` }), svg("text", { class: "tick middle", x, y: bottom + 16 }, text)];
    }),
    scales.y.ticks(MAX_TICKS, bottom, room.y).map(({ value, text }) => {
      const y = scales.y.at(value);
      return [svg("path", { class: "grid", d: `M${room.x} ${y}H${right}` }), svg("text", { class: "tick end", x: room.x - 6, y: y + 4 }, text)];
    }),
  ];
}

function mark([x, y], isLike) {
  if (isLike) return svg("circle", { class: "table-like", cx: x, cy: y, r: 7 });
  return svg("path", { class: "table-unlike", d: `M${x - 5} ${y - 5}l10 10m0 -10l-10 10` });
}

function cross([x, y]) {
  return svg("path", { class: "table-cursor", d: `M${x - 16} ${y}h9m14 0h9M${x} ${y - 16}v9m0 14v9M${x - 10} ${y}a10 10 0 1 0 20 0a10 10 0 1 0 -20 0` });
}

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
    return values.map((value) => ({ value, text: this.isDate ? new Date(value * DAY).toISOString().slice(0, 10) : plain(Number(value.toPrecision(12))) }));
  }
}

function niceStep(rough) {
  const magnitude = 10 ** Math.floor(Math.log10(rough));
  return magnitude * (([1, 2, 5].find((each) => each * magnitude >= rough)) ?? 10);
}
