// What a plot shows: points, ellipses and examples, with axes of round numbers or dates.

import { replace, svg } from "../shared/dom.js";
import { plain } from "../shared/numbers.js";

const HALF_SQUARE = 2.45; // of 95% of a Gaussian in the plane, in deviations
const MIN_POINTS = 3;
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
export function drawingOf(info, state, { points, frame, found }) {
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
    paths: pathsOf(points, frame, found),
  };
}

/** @returns {import("./plot.js").Drawing["paths"]} */
function pathsOf({ x, y }, frame, found) {
  if (!found) return [];
  const others = otherIndices(frame, found).map((k) => ({ points: ellipseOf(x, y, (i) => Number(frame.group[i] === k)), kind: "other", title: "Another group" }));
  const own = { points: ellipseOf(x, y, (i) => (found.is_member[i] ? found.membership[i] : 0)), kind: "found", title: "The rows like the examples: 95% of a Gaussian of their shape" };
  return [...others, own].flatMap(({ points, ...rest }) => (points === null ? [] : [{ points, ...rest }]));
}

/** Return the components of the mixture that are not the one most members are in. */
export function otherIndices(frame, found) {
  const weights = frame.groups.map(() => 0);
  frame.group.forEach((k, i) => (weights[k] += found.is_member[i] ? found.membership[i] : 0));
  const all = weights.reduce((a, b) => a + b, 0);
  return [...weights.keys()].filter((k) => weights[k] < 0.2 * all && frame.groups[k].typical_rows.length > 0);
}

/**
 * Return the path of the ellipse of points with weights, in their own units; null if there are too few.
 * @param {number[]} x @param {number[]} y @param {(i: number) => number} weightOf
 * @returns {[number, number][] | null}
 */
function ellipseOf(x, y, weightOf) {
  const sums = { n: 0, w: 0, x: 0, y: 0, xx: 0, xy: 0, yy: 0 };
  const each = (visit) => {
    for (let i = 0; i < x.length; i++) {
      const weight = weightOf(i);
      if (weight > 0 && Number.isFinite(x[i]) && Number.isFinite(y[i])) visit(i, weight);
    }
  };
  each((i, weight) => {
    sums.n += 1;
    sums.w += weight;
    sums.x += weight * x[i];
    sums.y += weight * y[i];
  });
  if (sums.n < MIN_POINTS) return null;
  const [meanX, meanY] = [sums.x / sums.w, sums.y / sums.w];
  each((i, weight) => {
    sums.xx += weight * (x[i] - meanX) ** 2;
    sums.xy += weight * (x[i] - meanX) * (y[i] - meanY);
    sums.yy += weight * (y[i] - meanY) ** 2;
  });
  // The Cholesky factor turns a circle into the ellipse.
  const a = Math.sqrt(sums.xx / sums.w);
  const b = a > 0 ? sums.xy / sums.w / a : 0;
  const c = Math.sqrt(Math.max(sums.yy / sums.w - b * b, 0));
  return Array.from({ length: 61 }, (_, i) => {
    const [cos, sin] = [Math.cos((i * Math.PI) / 30), Math.sin((i * Math.PI) / 30)];
    return [meanX + HALF_SQUARE * a * cos, meanY + HALF_SQUARE * (b * cos + c * sin)];
  });
}

/**
 * Draw all of it anew.
 * @param {SVGSVGElement} overlay
 * @param {import("./plot.js").Drawing} drawing
 * @param {{scales: {x: Scale, y: Scale}, size: number[], room: {x: number, y: number, width: number, height: number}, examples: number[], cursor: number | null}} where
 */
export function drawOverlay(overlay, { x, y, rows, like, names, paths }, { scales, size: [width, height], room, examples, cursor }) {
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
      paths.map((path) => line(path, scales)),
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

function line({ points, kind, title }, scales) {
  const d = points.map(([x, y], i) => `${i ? "L" : "M"}${scales.x.at(x).toFixed(1)} ${scales.y.at(y).toFixed(1)}`);
  return svg("path", { class: `table-path ${kind}`, d: d.join("") }, svg("title", {}, title));
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
