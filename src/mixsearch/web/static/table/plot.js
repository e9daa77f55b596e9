// A scatter plot: points on a canvas, and over it axes and examples as SVG.

import { h, svg } from "../shared/dom.js";
import { isInside, PlaneView } from "../shared/plane-view.js";
import { drawOverlay, Scale } from "./drawing.js";

const MARGIN = { left: 62, right: 14, top: 12, bottom: 44 };
const REACH = 14; // pixels around a point that count as it
const FEW = 800; // points that may be larger
const HELP = "Arrow keys go from row to row, Page Down to the next one on the right; Enter marks a row, Shift and Enter one that is not like them; plus and minus zoom.";
const DIRECTIONS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const SIDEWAYS = 2; // how much more a step aside costs than one ahead

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
 */

export class Plot {
  /** @type {Drawing | null} */
  #drawing = null;
  /** @type {number[]} Indices of the examples. */
  #examples = [];
  #scales = { x: new Scale([], false), y: new Scale([], false) };
  #theme = new MutationObserver(() => this.#draw());
  #scheme = matchMedia("(prefers-color-scheme: dark)");
  #frame = 0;

  /** @param {{choose: (rows: number[], isUnlike: boolean) => void, point: (row: number | null, byKey?: boolean) => void}} act */
  constructor(act) {
    this.act = act;
    this.canvas = h("canvas", { "aria-hidden": "true" });
    this.overlay = svg("svg", { class: "table-overlay", "aria-hidden": "true" });
    this.lasso = svg("path", { class: "table-lasso" });
    this.plot = h("div", { class: "table-plot", tabindex: "0", role: "application" }, this.canvas, this.overlay, svg("svg", { class: "table-overlay", "aria-hidden": "true" }, this.lasso));
    this.view = new PlaneView(
      this.plot,
      {
        changed: this.#draw,
        pointed: (x, y) => act.point(this.#rowAt(x, y)),
        pressed: (x, y, event) => this.#press(x, y, isUnlike(event)),
        circled: (path, isDone, event) => this.#circle(path, isDone, isUnlike(event)),
      },
      { margin: MARGIN },
    );
    this.cursor = new Cursor(this.plot, this.view, {
      placed: () => this.#placed,
      moved: (i) => {
        act.point(i === null ? null : (this.#drawing?.rows[i] ?? null), true);
        this.#draw();
      },
      chosen: (i, isNot) => this.#drawing && act.choose([this.#drawing.rows[i]], isNot),
    });
    this.lassoSwitch = h("button", { type: "button", class: "button plain", title: "Draw around rows by dragging; without it, dragging moves the plot", on: { click: () => this.#setLasso(!this.view.isLasso) } }, "Lasso");
    this.element = h("div", {}, this.plot, h("div", { class: "toolbar table-tools" }, this.lassoSwitch, this.view.buttons()));
    this.#setLasso(true);
    this.plot.addEventListener("pointerleave", () => act.point(null));
    this.#theme.observe(document.documentElement, { attributeFilter: ["data-theme"] });
    this.#scheme.addEventListener("change", this.#draw);
  }

  close() {
    cancelAnimationFrame(this.#frame);
    this.view.close();
    this.#theme.disconnect();
    this.#scheme.removeEventListener("change", this.#draw);
  }

  /** @param {Drawing} drawing */
  show(drawing) {
    const isSame = drawing.names.every((name, i) => name === this.#drawing?.names[i]) && drawing.rows.length === this.#drawing?.rows.length;
    this.#drawing = drawing;
    const { rows, like, notLike, names } = drawing;
    this.#examples = rows.flatMap((row, i) => (like.includes(row) || notLike.includes(row) ? [i] : []));
    this.plot.setAttribute("aria-label", `${rows.length.toLocaleString("en")} rows: ${names[0]} across, ${names[1]} up. ${HELP}`);
    // What is looked at closely stays in its place when an answer comes.
    if (!isSame || this.view.zoomed <= 1) this.#scales = scalesOf(drawing, this.#examples);
    if (!isSame) this.cursor.reset();
    if (!isSame && this.view.width > 0) this.view.reset();
    this.#draw();
  }

  /** Draw in the next frame, once for all changes until then. */
  #draw = () => {
    cancelAnimationFrame(this.#frame);
    this.#frame = requestAnimationFrame(() => this.#drawNow());
  };

  #drawNow() {
    const { clientWidth: width, clientHeight: height } = this.plot;
    if (!this.#drawing || width === 0) return;
    this.#place();
    this.#paintPoints(width, height);
    const room = { x: MARGIN.left, y: MARGIN.top, width: this.view.width, height: this.view.height };
    drawOverlay(this.overlay, this.#drawing, { scales: this.#scales, size: [width, height], room, examples: this.#examples, cursor: this.cursor.index });
  }

  /** Let the scales follow the view. */
  #place() {
    const [[left, top], [right, bottom]] = [this.view.toPixels(0, 0), this.view.toPixels(1, 1)];
    this.#scales.x.range = [left, right];
    this.#scales.y.range = [bottom, top];
  }

  #paintPoints(width, height) {
    const { x, y, membership } = /** @type {Drawing} */ (this.#drawing);
    const ratio = devicePixelRatio || 1;
    Object.assign(this.canvas, { width: Math.round(width * ratio), height: Math.round(height * ratio) });
    const pen = this.canvas.getContext("2d");
    if (!pen) return;
    pen.scale(ratio, ratio);
    pen.beginPath();
    pen.rect(MARGIN.left, MARGIN.top, this.view.width, this.view.height);
    pen.clip();
    const radius = Math.min((x.length > FEW ? 2 : 3.5) * Math.sqrt(this.view.zoomed), 5);
    const style = getComputedStyle(this.plot);
    const [member, other] = ["--accent", "--faint"].map((name) => resolved(this.plot, style, name));
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

  // Pointing

  /** The pixels of the points; not a number for rows without values. */
  get #placed() {
    if (!this.#drawing) return [];
    this.#place();
    const { x, y } = this.#drawing;
    const at = (value, scale) => (Number.isFinite(value) ? scale.at(value) : NaN);
    return x.map((each, i) => [at(each, this.#scales.x), at(y[i], this.#scales.y)]);
  }

  #rowAt(px, py) {
    let [best, reach] = [-1, REACH];
    this.#placed.forEach(([x, y], i) => {
      const distance = Math.hypot(x - px, y - py);
      if (distance < reach) [best, reach] = [i, distance];
    });
    return best < 0 ? null : (this.#drawing?.rows[best] ?? null);
  }

  #press(x, y, isNot) {
    const row = this.#rowAt(x, y);
    if (row !== null) this.act.choose([row], isNot);
  }

  #circle(path, isDone, isNot) {
    this.lasso.setAttribute("d", !isDone && path.length > 1 ? `M${path.map((point) => point.join(" ")).join("L")}Z` : "");
    if (!isDone || path.length < 3) return;
    const rows = this.#placed.flatMap(([x, y], i) => (isInside(x, y, path) ? [this.#drawing?.rows[i] ?? -1] : []));
    if (rows.length > 0) this.act.choose(rows, isNot);
  }

  #setLasso(isOn) {
    this.view.isLasso = isOn;
    this.lassoSwitch.setAttribute("aria-pressed", String(isOn));
    this.plot.classList.toggle("is-lasso", isOn);
  }
}

function isUnlike({ shiftKey, altKey }) {
  return shiftKey || altKey;
}

/** @param {Drawing} drawing @param {number[]} examples */
function scalesOf({ x, y, areDates }, examples) {
  const wanted = (values) => examples.map((i) => values[i]);
  return { x: new Scale(x, areDates[0], wanted(x)), y: new Scale(y, areDates[1], wanted(y)) };
}

/** Return a color of the style sheet as the canvas can use it: light-dark() must be resolved. */
function resolved(element, style, name) {
  const before = element.style.color;
  element.style.color = `var(${name})`;
  const { color } = style;
  element.style.color = before;
  return color;
}

/** The keyboard on a plot: a cursor that goes from point to point. */
class Cursor {
  /** @type {number | null} The point that it is on. */
  index = null;

  /**
   * @param {HTMLElement} element
   * @param {import("../shared/plane-view.js").PlaneView} view
   * @param {{placed: () => number[][], moved: (i: number | null) => void, chosen: (i: number, isNot: boolean) => void}} act placed()
   *   returns the pixels of all points
   */
  constructor(element, view, act) {
    this.view = view;
    this.act = act;
    element.addEventListener("keydown", (event) => this.#key(event));
    element.addEventListener("blur", () => this.#move(null));
  }

  reset() {
    this.index = null;
  }

  #key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const points = this.act.placed();
    const isChoice = (event.key === "Enter" || event.key === " ") && this.index !== null;
    const next = this.#next(event.key, points);
    if (isChoice) this.act.chosen(/** @type {number} */ (this.index), event.shiftKey);
    else if (next !== null) this.#move(next);
    else if (!this.view.press(event.key, ...(points[this.index ?? -1] ?? []))) return;
    event.preventDefault();
  }

  #move(index) {
    if (index === this.index) return;
    this.index = index;
    if (index !== null) this.view.reveal(...this.act.placed()[index]);
    this.act.moved(index);
  }

  /** Return the point that a key leads to: null if the key is for something else. */
  #next(key, points) {
    const isStep = key in DIRECTIONS || ["PageUp", "PageDown", "Home", "End"].includes(key);
    const known = [...points.keys()].filter((i) => points[i].every(Number.isFinite));
    if (!isStep || known.length === 0) return null;
    if (this.index === null && key in DIRECTIONS) return nearest(points, known, this.view);
    if (key in DIRECTIONS) return ahead(points, known, this.index, DIRECTIONS[key]);
    const order = known.sort((a, b) => points[a][0] - points[b][0] || points[a][1] - points[b][1] || a - b);
    const place = this.index === null ? -1 : order.indexOf(this.index);
    const to = { PageUp: place - 1, PageDown: place + 1, Home: 0, End: order.length - 1 }[key] ?? 0;
    return order[Math.min(Math.max(to, 0), order.length - 1)];
  }
}

/** Return the point nearest to the middle of the view. */
function nearest(points, known, { margin, width, height }) {
  const [x, y] = [margin.left + width / 2, margin.top + height / 2];
  const distance = (i) => Math.hypot(points[i][0] - x, points[i][1] - y);
  return known.reduce((best, i) => (distance(i) < distance(best) ? i : best));
}

/** Return the next point in a direction, within 45 degrees of it; the same if there is none. */
function ahead(points, known, from, [right, down]) {
  let [best, least] = [from, Infinity];
  for (const i of known) {
    const [dx, dy] = [points[i][0] - points[from][0], points[i][1] - points[from][1]];
    const [along, aside] = [dx * right + dy * down, Math.abs(dx * down) + Math.abs(dy * right)];
    const cost = along + SIDEWAYS * aside;
    if (i !== from && along > 0 && aside <= along && cost < least) [best, least] = [i, cost];
  }
  return best;
}
