// A scatter plot: points on a canvas, and over it axes, ellipses, lines and examples as SVG.

import { h, replace, svg } from "../shared/dom.js";
import { Lasso } from "./lasso.js";
import { Scale } from "./scale.js";

const MARGIN = { left: 62, right: 14, top: 12, bottom: 44 };
const REACH = 14; // pixels around a point that count as it
const N_TICKS = 6;
const FEW = 800; // points that may be larger

/**
 * @typedef {object} Drawing
 * @property {number[]} rows
 * @property {number[]} x
 * @property {number[]} y
 * @property {[string, string]} names
 * @property {[boolean, boolean]} areDates
 * @property {number[] | null} membership
 * @property {number[]} like
 * @property {number[]} notLike
 * @property {{points: [number, number][], kind: string, title: string}[]} paths
 */

export class Plot {
  /** @type {Drawing | null} */
  #drawing = null;
  #scales = { x: new Scale([], [0, 1], false), y: new Scale([], [1, 0], false) };
  #observer = new ResizeObserver(() => this.#paint());
  #theme = new MutationObserver(() => this.#paint());
  #scheme = matchMedia("(prefers-color-scheme: dark)");
  #repaint = () => this.#paint();

  /** @param {{choose: (rows: number[], isUnlike: boolean) => void, point: (row: number | null) => void}} act */
  constructor(act) {
    this.act = act;
    this.canvas = h("canvas", { "aria-hidden": "true" });
    this.overlay = svg("svg", { class: "table-overlay", role: "img" });
    this.element = h("div", { class: "table-plot" }, this.canvas, this.overlay);
    new Lasso(this.element, {
      click: (x, y, isUnlike) => this.#click(x, y, isUnlike),
      around: (path, isUnlike) => this.#surround(path, isUnlike),
      hover: (x, y) => act.point(this.#nearest(x, y)),
      leave: () => act.point(null),
    });
    this.#observer.observe(this.element);
    this.#theme.observe(document.documentElement, { attributeFilter: ["data-theme"] });
    this.#scheme.addEventListener("change", this.#repaint);
  }

  close() {
    this.#observer.disconnect();
    this.#theme.disconnect();
    this.#scheme.removeEventListener("change", this.#repaint);
  }

  /** @param {Drawing} drawing */
  show(drawing) {
    this.#drawing = drawing;
    this.#paint();
  }

  #paint() {
    const { clientWidth: width, clientHeight: height } = this.element;
    if (!this.#drawing || width === 0) return;
    const { x, y, areDates, paths, rows, like, notLike } = this.#drawing;
    const examples = rows.flatMap((row, i) => (like.includes(row) || notLike.includes(row) ? [i] : []));
    const drawn = paths.filter(({ kind }) => kind !== "other").flatMap(({ points }) => points);
    this.#scales = {
      x: new Scale(x, [MARGIN.left, width - MARGIN.right], areDates[0], [...examples.map((i) => x[i]), ...drawn.map(([each]) => each)]),
      y: new Scale(y, [height - MARGIN.bottom, MARGIN.top], areDates[1], [...examples.map((i) => y[i]), ...drawn.map(([, each]) => each)]),
    };
    this.#paintPoints(width, height);
    this.#paintOverlay(width, height, examples);
  }

  #paintPoints(width, height) {
    const { x, y, membership } = /** @type {Drawing} */ (this.#drawing);
    const ratio = devicePixelRatio || 1;
    Object.assign(this.canvas, { width: Math.round(width * ratio), height: Math.round(height * ratio) });
    const pen = this.canvas.getContext("2d");
    if (!pen) return;
    pen.scale(ratio, ratio);
    pen.beginPath();
    pen.rect(MARGIN.left, MARGIN.top, width - MARGIN.left - MARGIN.right, height - MARGIN.top - MARGIN.bottom);
    pen.clip();
    const radius = x.length > FEW ? 2 : 3.5;
    const style = getComputedStyle(this.element);
    const [member, other] = ["--accent", "--faint"].map((name) => resolved(this.element, style, name));
    const order = membership ? [...x.keys()].sort((a, b) => (membership[a] ?? 0) - (membership[b] ?? 0)) : [...x.keys()];
    for (const i of order) {
      const share = membership?.[i] ?? 0;
      this.#dot(pen, x[i], y[i], radius, other, membership ? 0.35 * (1 - share) : 0.6);
      if (share > 0.01) this.#dot(pen, x[i], y[i], radius, member, 0.1 + 0.9 * share);
    }
  }

  #dot(pen, x, y, radius, color, alpha) {
    if (!Number.isFinite(x) || !Number.isFinite(y)) return;
    pen.globalAlpha = alpha;
    pen.fillStyle = color;
    pen.beginPath();
    pen.arc(this.#scales.x.at(x), this.#scales.y.at(y), radius, 0, 2 * Math.PI);
    pen.fill();
  }

  #paintOverlay(width, height, examples) {
    const { x, y, rows, like, names, paths } = /** @type {Drawing} */ (this.#drawing);
    this.overlay.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.overlay.setAttribute("aria-label", `${rows.length.toLocaleString("en")} rows: ${names[0]} across, ${names[1]} up`);
    const inside = { x: MARGIN.left, y: MARGIN.top, width: width - MARGIN.left - MARGIN.right, height: height - MARGIN.top - MARGIN.bottom };
    replace(
      this.overlay,
      svg("clipPath", { id: "table-inside" }, svg("rect", inside)),
      this.#axes(width, height),
      svg("g", { "clip-path": "url(#table-inside)" }, paths.map((path) => this.#path(path))),
      examples.map((i) => mark(this.#scales.x.at(x[i]), this.#scales.y.at(y[i]), like.includes(rows[i]))),
      svg("text", { class: "axis-name", x: (MARGIN.left + width - MARGIN.right) / 2, y: height - 6 }, names[0]),
      svg("text", { class: "axis-name", transform: `translate(14 ${(MARGIN.top + height - MARGIN.bottom) / 2}) rotate(-90)` }, names[1]),
    );
  }

  #path({ points, kind, title }) {
    const d = points.map(([x, y], i) => `${i ? "L" : "M"}${this.#scales.x.at(x).toFixed(1)} ${this.#scales.y.at(y).toFixed(1)}`);
    return svg("path", { class: `table-path ${kind}`, d: d.join("") }, svg("title", {}, title));
  }

  #axes(width, height) {
    const bottom = height - MARGIN.bottom;
    const n = Math.max(2, Math.min(N_TICKS, Math.floor(width / 110)));
    return [
      this.#scales.x.ticks(n).map(({ value, text }) => {
        const x = this.#scales.x.at(value);
        return [svg("path", { class: "grid", d: `M${x} ${MARGIN.top}V${bottom}` }), svg("text", { class: "tick middle", x, y: bottom + 16 }, text)];
      }),
      this.#scales.y.ticks(N_TICKS).map(({ value, text }) => {
        const y = this.#scales.y.at(value);
        return [svg("path", { class: "grid", d: `M${MARGIN.left} ${y}H${width - MARGIN.right}` }), svg("text", { class: "tick end", x: MARGIN.left - 6, y: y + 4 }, text)];
      }),
    ];
  }

  // Pointing

  #click(x, y, isUnlike) {
    const row = this.#nearest(x, y);
    if (row !== null) this.act.choose([row], isUnlike);
  }

  #nearest(px, py) {
    if (!this.#drawing) return null;
    const { rows, x, y } = this.#drawing;
    let [best, reach] = [-1, REACH ** 2];
    for (let i = 0; i < rows.length; i++) {
      const distance = (this.#scales.x.at(x[i]) - px) ** 2 + (this.#scales.y.at(y[i]) - py) ** 2;
      if (distance < reach) [best, reach] = [i, distance];
    }
    return best < 0 ? null : rows[best];
  }

  #surround(path, isUnlike) {
    if (!this.#drawing) return;
    const { rows, x, y } = this.#drawing;
    const inside = rows.filter((_, i) => isInside(path, this.#scales.x.at(x[i]), this.#scales.y.at(y[i])));
    if (inside.length > 0) this.act.choose(inside, isUnlike);
  }
}

function mark(x, y, isLike) {
  if (isLike) return svg("circle", { class: "table-like", cx: x, cy: y, r: 7 });
  return svg("path", { class: "table-unlike", d: `M${x - 5} ${y - 5}l10 10m0 -10l-10 10` });
}

/** Return a color of the style sheet as the canvas can use it: light-dark() must be resolved. */
function resolved(element, style, name) {
  const before = element.style.color;
  element.style.color = `var(${name})`;
  const { color } = style;
  element.style.color = before;
  return color;
}

function isInside(path, x, y) {
  let inside = false;
  for (let i = 0, j = path.length - 1; i < path.length; j = i++) {
    const [[xi, yi], [xj, yj]] = [path[i], path[j]];
    if (yi > y !== yj > y && x < ((xj - xi) * (y - yi)) / (yj - yi) + xi) inside = !inside;
  }
  return inside;
}
