// What part of a plane is in view: zoom and pan by pointer, wheel, pinch, keys and buttons, and a lasso.

import { h } from "./dom.js";

const STEP = 1.6;
const MAX_ZOOM = 60;
const CLICK_WITHIN = 4; // pixels: a longer way is a drag
const LASSO_STEP = 4;
const NO_MARGIN = { left: 0, right: 0, top: 0, bottom: 0 };

/**
 * A unit square in an element, as far as a margin allows. It may be wider than tall by a factor up to `maxStretch`.
 *
 * All pixels are those of the page, from the corner of the element.
 */
export class PlaneView {
  #pointers = new Map(); // id -> [x, y]
  /** @type {number[][]} */
  #path = [];
  #isCircling = false;
  #isMoved = false;
  #observer = new ResizeObserver(() => this.#resize());
  isLasso = false;
  scale = 1; // pixels of one unit down
  stretch = 1; // and across, as a multiple
  left = 0;
  top = 0;
  width = 0; // of the room within the margin
  height = 0;

  /**
   * Calls changed() when the view or its size changes; pointed(x, y) when the pointer moves, pressed(x, y, event) on a click,
   * circled(path, isDone, event) for a lasso.
   * @param {HTMLElement} element
   * @param {{changed: () => void, pointed: (x: number, y: number) => void, pressed: (x: number, y: number, event: PointerEvent) => void, circled: (path: number[][], isDone: boolean, event: PointerEvent) => void}} act
   * @param {{margin?: typeof NO_MARGIN, minStretch?: number, maxStretch?: number}} [options]
   */
  constructor(element, act, { margin = NO_MARGIN, minStretch = 0, maxStretch = Infinity } = {}) {
    this.element = element;
    this.act = act;
    this.margin = margin;
    this.stretches = [minStretch, maxStretch];
    element.addEventListener("pointerdown", (event) => this.#down(event));
    element.addEventListener("pointermove", (event) => this.#move(event));
    for (const name of /** @type {const} */ (["pointerup", "pointercancel"])) element.addEventListener(name, (event) => this.#up(event));
    element.addEventListener("wheel", (event) => this.#wheel(event), { passive: false });
    this.#observer.observe(element);
  }

  close() {
    this.#observer.disconnect();
  }

  /** How many times larger than the whole the view is. */
  get zoomed() {
    return this.scale / this.#fit;
  }

  toPixels(x, y) {
    return [this.left + this.scale * this.stretch * x, this.top + this.scale * y];
  }

  toPlace(x, y) {
    return [(x - this.left) / (this.scale * this.stretch), (y - this.top) / this.scale];
  }

  /** Create the buttons to zoom. */
  buttons() {
    const button = (label, name, click) => h("button", { type: "button", class: "button plain icon", "aria-label": name, title: name, on: { click } }, label);
    return [button("+", "Zoom in", () => this.zoom(STEP)), button("−", "Zoom out", () => this.zoom(1 / STEP)), button("⤢", "Show all", () => this.reset())];
  }

  /** Zoom by a key, around a pixel; return whether it was one for that. */
  press(key, x = this.#middle[0], y = this.#middle[1]) {
    if (key === "+" || key === "=") this.zoom(STEP, x, y);
    else if (key === "-") this.zoom(1 / STEP, x, y);
    else if (key === "0") this.reset();
    else return false;
    return true;
  }

  zoom(factor, x = this.#middle[0], y = this.#middle[1]) {
    const scale = Math.min(Math.max(this.scale * factor, this.#fit), MAX_ZOOM * this.#fit);
    this.left = x - ((x - this.left) * scale) / this.scale;
    this.top = y - ((y - this.top) * scale) / this.scale;
    this.scale = scale;
    this.#keepInside();
    this.act.changed();
  }

  pan(across, down) {
    this.left += across;
    this.top += down;
    this.#keepInside();
    this.act.changed();
  }

  /** Pan as little as brings a pixel into view. */
  reveal(x, y) {
    const { margin, width, height } = this;
    const missing = (value, low, high) => Math.max(low - value, 0) || Math.min(high - value, 0);
    const [across, down] = [missing(x, margin.left, margin.left + width), missing(y, margin.top, margin.top + height)];
    if (across !== 0 || down !== 0) this.pan(across, down);
  }

  reset() {
    this.scale = this.#fit;
    this.left = this.margin.left + (this.width - this.scale * this.stretch) / 2;
    this.top = this.margin.top + (this.height - this.scale) / 2;
    this.act.changed();
  }

  get #middle() {
    return [this.margin.left + this.width / 2, this.margin.top + this.height / 2];
  }

  /** The scale at which all of the plane is in view. */
  get #fit() {
    return Math.max(Math.min(this.width / this.stretch, this.height), 1);
  }

  /** A quarter of the plane stays in view. */
  #keepInside() {
    const { margin, width, height } = this;
    const [wide, tall] = [width / 4, height / 4];
    this.left = Math.min(Math.max(this.left, margin.left + wide - this.scale * this.stretch), margin.left + width - wide);
    this.top = Math.min(Math.max(this.top, margin.top + tall - this.scale), margin.top + height - tall);
  }

  #resize() {
    const { clientWidth, clientHeight } = this.element;
    if (clientWidth === 0) return;
    const middle = this.toPlace(...this.#middle);
    const closer = this.width > 0 ? this.zoomed : 1;
    this.width = Math.max(clientWidth - this.margin.left - this.margin.right, 1);
    this.height = Math.max(clientHeight - this.margin.top - this.margin.bottom, 1);
    const [min, max] = this.stretches;
    this.stretch = Math.min(Math.max(this.width / this.height, min), max);
    if (closer === 1) {
      this.reset();
      return;
    }
    this.scale = closer * this.#fit;
    this.left = this.#middle[0] - this.scale * this.stretch * middle[0];
    this.top = this.#middle[1] - this.scale * middle[1];
    this.act.changed();
  }

  // Pointers

  /** @returns {[number, number]} */
  #at(event) {
    const box = this.element.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  #down(event) {
    if (event.button > 1) return;
    if (event.button === 1) event.preventDefault(); // the browser would scroll
    const at = this.#at(event);
    this.element.setPointerCapture(event.pointerId);
    if (this.#isCircling) this.act.circled([], true, event); // a second finger pinches instead
    this.#pointers.set(event.pointerId, at);
    this.#path = [at];
    this.#isCircling = this.#pointers.size === 1 && event.button === 0 && (this.isLasso || event.shiftKey);
    this.#isMoved = this.#pointers.size > 1;
  }

  #move(event) {
    const before = this.#pointers.get(event.pointerId);
    const now = this.#at(event);
    if (!before) {
      this.act.pointed(now[0], now[1]);
      return;
    }
    const [start] = this.#path;
    this.#isMoved ||= Math.hypot(now[0] - start[0], now[1] - start[1]) > CLICK_WITHIN;
    if (this.#isCircling) this.#extend(now, event);
    else if (this.#pointers.size === 2) this.#pinch(event.pointerId, before, now);
    else if (this.#isMoved) this.pan(now[0] - before[0], now[1] - before[1]);
    if (this.#isMoved) this.#pointers.set(event.pointerId, now);
  }

  #up(event) {
    if (!this.#pointers.delete(event.pointerId)) return;
    const isClick = !this.#isMoved && event.type === "pointerup" && event.button === 0;
    if (this.#isCircling) this.act.circled(isClick || event.type === "pointercancel" ? [] : this.#path, true, event);
    if (isClick) this.act.pressed(...this.#at(event), event);
    this.#isCircling = false;
  }

  #extend(now, event) {
    const last = this.#path[this.#path.length - 1];
    if (Math.hypot(now[0] - last[0], now[1] - last[1]) < LASSO_STEP) return;
    this.#path.push(now);
    this.act.circled(this.#path, false, event);
  }

  #pinch(id, before, now) {
    const [[, other]] = [...this.#pointers].filter(([each]) => each !== id);
    const length = (point) => Math.max(Math.hypot(point[0] - other[0], point[1] - other[1]), 1);
    const middle = (point) => [(point[0] + other[0]) / 2, (point[1] + other[1]) / 2];
    const [from, to] = [middle(before), middle(now)];
    this.zoom(length(now) / length(before), ...to);
    this.pan(to[0] - from[0], to[1] - from[1]);
  }

  /** The wheel scrolls the page, unless the plane has the focus or Ctrl is held. */
  #wheel(event) {
    if (!event.ctrlKey && document.activeElement !== this.element) return;
    event.preventDefault();
    const [x, y] = this.#at(event);
    this.zoom(Math.exp(-event.deltaY * (event.ctrlKey ? 0.01 : 0.0015)), x, y);
  }
}

/** Return whether a point is inside a polygon. @param {number[][]} polygon */
export function isInside(x, y, polygon) {
  let isIn = false;
  polygon.forEach(([ax, ay], i) => {
    const [bx, by] = polygon[(i + 1) % polygon.length];
    if (ay > y !== by > y && x < ((bx - ax) * (y - ay)) / (by - ay) + ax) isIn = !isIn;
  });
  return isIn;
}
