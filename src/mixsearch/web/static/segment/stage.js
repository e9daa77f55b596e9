// The picture with the outlines of its segments and a handle for every seed.

import { h, replace, svg } from "../shared/dom.js";
import { SeedHandles } from "./handles.js";

// All of the picture is in view, with the tools above and below it.
const HEIGHT = "clamp(280px, 100vh - 268px, 72vh)";
const MAX_ENLARGED = 8;
const MIN_STROKE = 4; // pixels of the screen between two points of a stroke
const HELP =
  "The picture with its seeds. Enter puts a seed in the middle; arrow keys move a seed, Delete removes it; plus, minus and 0 zoom.";
const STEP = 1.5;
const MAX_ZOOM = 12;

export class Stage {
  /** @type {"point" | "brush" | "not" | "move"} */
  #mode = "point";
  /** @type {{width: number, height: number} | null} */
  #picture = null;
  /** @type {number[][] | null} Where the brush has been, from 0 to 1. */
  #stroke = null;
  /** @type {number[] | null} Where the picture was last seen while it is moved, in pixels of the screen. */
  #moving = null;

  /**
   * Calls add(x, y, {toSame, byKey}), brush(points, {toSame}), exclude(x, y, index), hover(index), and what handles call:
   * drag(shapeId, x, y, stroke), letGo(), nudge(shapeId, x, y), remove(shapeId).
   */
  constructor(act) {
    this.act = act;
    this.image = h("img", { class: "segment-image", alt: "The picture", draggable: "false" });
    this.outlines = new Outlines((index) => act.hover(index));
    this.handles = new SeedHandles(this, act);
    this.element = h(
      "div",
      {
        class: "segment-stage",
        tabindex: 0,
        role: "group",
        "aria-label": HELP,
        on: {
          click: (event) => this.#clicked(event),
          keydown: (event) => this.#pressed(event),
          pointerdown: (event) => this.#down(event),
          pointermove: (event) => this.#moved(event),
          pointerup: (event) => this.#up(event),
          pointercancel: () => this.#stop(),
        },
      },
      this.image,
      this.outlines.element,
      this.handles.element,
    );
    this.zoom = new Zoom(this.element);
  }

  show(picture, source) {
    this.#picture = picture;
    this.image.src = source;
    const { width, height } = picture;
    this.element.style.setProperty("aspect-ratio", `${width} / ${height}`);
    this.zoom.box.style.setProperty("aspect-ratio", `${width} / ${height}`);
    this.zoom.box.style.setProperty("width", `min(100%, ${MAX_ENLARGED * width}px, calc(${HEIGHT} * ${width / height}))`);
    this.zoom.reset();
    this.outlines.draw(null);
  }

  set mode(mode) {
    this.#mode = mode;
    this.element.dataset.mode = mode;
  }

  get mode() {
    return this.#mode;
  }

  /** The opacity of the tint of all segments. */
  set tint(opacity) {
    this.outlines.element.style.setProperty("--tint", opacity);
  }

  /** Put an element on a pixel of the image. */
  place(element, x, y) {
    const { width, height } = this.size;
    const [column, row] = this.clamp(x, y); // an address can contain pixels outside the image
    element.style.setProperty("left", `${(100 * (column + 0.5)) / width}%`);
    element.style.setProperty("top", `${(100 * (row + 0.5)) / height}%`);
  }

  /** Return the nearest pixel of the image. @returns {[number, number]} */
  clamp(x, y) {
    return [within(x, this.size.width), within(y, this.size.height)];
  }

  /** The size of the image, which must be there. */
  get size() {
    return /** @type {{width: number, height: number}} */ (this.#picture);
  }

  /** Return the pixel of the image at a position on the screen. @returns {[number, number]} */
  pixelAt(clientX, clientY) {
    return this.#pixelOf(this.#placeAt(clientX, clientY));
  }

  /** Return a place on the image, from 0 to 1. @returns {[number, number]} */
  #placeAt(clientX, clientY) {
    const box = this.element.getBoundingClientRect();
    return [(clientX - box.left) / box.width, (clientY - box.top) / box.height];
  }

  /** @param {number[]} place @returns {[number, number]} */
  #pixelOf([right, down]) {
    return this.clamp(Math.floor(right * this.size.width), Math.floor(down * this.size.height));
  }

  // Pointer

  #clicked(event) {
    if (this.#picture === null || this.handles.element.contains(event.target)) return;
    if (this.#mode === "point" && !event.altKey) this.act.add(...this.pixelAt(event.clientX, event.clientY), { toSame: event.shiftKey });
    else if (this.#mode === "not" || (this.#mode === "point" && event.altKey)) this.#exclude(this.#placeAt(event.clientX, event.clientY));
  }

  #exclude(place) {
    this.act.exclude(...this.#pixelOf(place), this.outlines.segmentAt(...place));
  }

  #down(event) {
    if (this.#picture === null || this.handles.element.contains(event.target)) return;
    const isMiddle = event.button === 1;
    if (isMiddle || (this.#mode === "move" && event.pointerType === "mouse" && event.button === 0)) this.#moving = [event.clientX, event.clientY];
    else if (this.#mode === "brush" && event.button === 0) this.#stroke = [this.#placeAt(event.clientX, event.clientY)];
    else return;
    event.preventDefault();
    this.element.focus({ preventScroll: true });
    this.element.setPointerCapture(event.pointerId);
  }

  #moved(event) {
    if (this.#moving !== null) {
      this.zoom.pan(event.clientX - this.#moving[0], event.clientY - this.#moving[1]);
      this.#moving = [event.clientX, event.clientY];
    } else if (this.#stroke !== null) {
      const place = this.#placeAt(event.clientX, event.clientY);
      const [lastRight, lastDown] = this.#stroke[this.#stroke.length - 1];
      const box = this.element.getBoundingClientRect();
      if (Math.hypot((place[0] - lastRight) * box.width, (place[1] - lastDown) * box.height) < MIN_STROKE) return;
      this.#stroke.push(place);
      this.outlines.drawStroke(this.#stroke);
    }
  }

  #up(event) {
    const points = (this.#stroke ?? []).map((place) => this.#pixelOf(place));
    this.#stop();
    if (points.length > 0) this.act.brush(points, { toSame: event.shiftKey });
  }

  #stop() {
    this.#stroke = this.#moving = null;
    this.outlines.drawStroke([]);
  }

  // Keyboard

  #pressed(event) {
    if (event.target !== this.element || this.#picture === null || event.ctrlKey || event.metaKey) return;
    if (event.key === "Enter") {
      const { width, height } = this.size;
      if (this.#mode === "not") this.#exclude([0.5, 0.5]);
      else this.act.add(Math.floor(width / 2), Math.floor(height / 2), { toSame: event.shiftKey, byKey: true });
    } else if (!this.zoom.press(event.key)) return;
    event.preventDefault();
  }
}

function within(place, size) {
  return Math.min(Math.max(place, 0), size - 1);
}

/** Outlines of the segments over the picture, and the stroke that is being drawn. */
class Outlines {
  /** @type {{width: number, height: number} | null} The size of the drawing, which may be smaller than the picture. */
  #size = null;
  /** @type {SVGPathElement[]} */
  #paths = [];

  /** Calls entered(index) with the segment under the pointer, null for none. */
  constructor(entered) {
    this.lines = svg("g", {});
    this.stroke = svg("polyline", { class: "segment-stroke" });
    this.element = svg(
      "svg",
      {
        class: "segment-outlines",
        preserveAspectRatio: "none",
        "aria-hidden": "true",
        on: {
          pointerover: ({ target }) => entered(target.dataset.segment === undefined ? null : Number(target.dataset.segment)),
          pointerleave: () => entered(null),
        },
      },
      this.lines,
      this.stroke,
    );
  }

  /** Draw an answer of the server; null for none. */
  draw(answer) {
    this.#size = answer;
    if (answer === null) {
      this.#paths = [];
      replace(this.lines);
      return;
    }
    this.element.setAttribute("viewBox", `0 0 ${answer.width} ${answer.height}`);
    const edges = answer.segments.map(({ outline }) => svg("path", { class: "segment-edge", d: outline }));
    this.#paths = answer.segments.map(({ outline, color: colour }, i) =>
      svg("path", { class: "segment-area", d: outline, fill: colour, stroke: colour, dataset: { segment: i } }),
    );
    // Neighbours share their border: that of the smaller one is seen, which is what was clicked, not what is around it.
    const bySize = [...this.#paths.keys()].sort((a, b) => answer.segments[b].share - answer.segments[a].share);
    replace(this.lines, edges, bySize.map((i) => this.#paths[i]));
  }

  /** Tint one segment; null for none. */
  highlight(index) {
    this.#paths.forEach((path, i) => path.classList.toggle("is-hot", i === index));
  }

  /** Return the segment at a place of the picture from 0 to 1, -1 for none. */
  segmentAt(right, down) {
    const size = this.#size;
    if (size === null) return -1;
    const point = new DOMPoint(right * size.width, down * size.height);
    return this.#paths.findIndex((path) => path.isPointInFill(point));
  }

  /** Show the stroke that is being drawn, as places from 0 to 1. */
  drawStroke(places) {
    const { width, height } = this.#size ?? { width: 1000, height: 1000 };
    if (this.#size === null) this.element.setAttribute("viewBox", "0 0 1000 1000");
    this.stroke.setAttribute("points", places.map(([right, down]) => `${right * width},${down * height}`).join(" "));
  }
}

/** Zoom and pan: the picture grows within a box that scrolls, so that fingers, wheels and keys move it as anything else. */
export class Zoom {
  #zoom = 1;

  /** @param {HTMLElement} content */
  constructor(content) {
    this.content = content;
    this.box = h("div", { class: "segment-box", on: { wheel: (event) => this.#wheel(event) } }, content);
    this.smaller = this.#button("−", "Zoom out", () => this.#set(this.#zoom / STEP));
    this.larger = this.#button("+", "Zoom in", () => this.#set(this.#zoom * STEP));
    this.fit = h("button", { type: "button", class: "button plain", on: { click: () => this.reset() } }, "Fit");
    this.controls = h("div", { class: "toolbar segment-zoom", role: "group", "aria-label": "Zoom" }, this.smaller, this.larger, this.fit);
    this.reset();
  }

  reset() {
    this.#set(1);
  }

  /** Zoom by a key; return whether it was one for that. */
  press(key) {
    if (key === "+" || key === "=") this.#set(this.#zoom * STEP);
    else if (key === "-") this.#set(this.#zoom / STEP);
    else if (key === "0") this.reset();
    else return false;
    return true;
  }

  /** Move the picture with the pointer. */
  pan(right, down) {
    this.box.scrollBy(-right, -down);
  }

  #button(label, title, act) {
    return h("button", { type: "button", class: "button plain icon", "aria-label": title, title, on: { click: act } }, label);
  }

  #wheel(event) {
    if (!event.ctrlKey && !event.metaKey) return; // a plain wheel scrolls
    event.preventDefault();
    const { left, top } = this.box.getBoundingClientRect();
    this.#set(this.#zoom * STEP ** (-event.deltaY / 100), event.clientX - left, event.clientY - top);
  }

  /** Zoom so that the place at these pixels of the box, by default its middle, stays there. */
  #set(zoom, x = this.box.clientWidth / 2, y = this.box.clientHeight / 2) {
    const before = this.#zoom;
    this.#zoom = Math.min(Math.max(zoom, 1), MAX_ZOOM);
    const { scrollLeft, scrollTop } = this.box;
    this.content.style.setProperty("width", `${100 * this.#zoom}%`);
    this.box.classList.toggle("is-zoomed", this.#zoom > 1);
    const ratio = this.#zoom / before;
    this.box.scrollTo((scrollLeft + x) * ratio - x, (scrollTop + y) * ratio - y);
    this.smaller.disabled = this.fit.disabled = this.#zoom === 1;
    this.larger.disabled = this.#zoom === MAX_ZOOM;
  }
}
