// What is drawn over the points of a plot: axes, ellipses and lines, examples, and the cursor of the keyboard.

import { replace, svg } from "../shared/dom.js";

const [MIN_TICKS, MAX_TICKS] = [3, 6];
const PIXELS_PER_TICK = 110;
const ROOM = "table-room"; // id

/**
 * Draw all of it anew.
 * @param {SVGSVGElement} overlay
 * @param {import("./plot.js").Drawing} drawing
 * @param {{scales: {x: import("./scale.js").Scale, y: import("./scale.js").Scale}, size: number[], room: {x: number, y: number, width: number, height: number}, examples: number[], cursor: number | null}} where
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
