// The picture with the outlines of its segments and a handle for every seed.

import { h } from "../shared/dom.js";
import { SeedHandles } from "./handles.js";
import { Outlines } from "./outlines.js";
import { Zoom } from "./zoom.js";

// All of the picture is in view, with the tools above and below it.
const HEIGHT = "clamp(280px, 100vh - 268px, 72vh)";
const MAX_ENLARGED = 8;
const MIN_STROKE = 4; // pixels of the screen between two points of a stroke
const HELP =
  "The picture with its seeds. Enter puts a seed in the middle; arrow keys move a seed, Delete removes it; plus, minus and 0 zoom.";

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
    this.suggested = h("span", { class: "segment-suggested", hidden: true, "aria-hidden": "true" });
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
      this.suggested,
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
    this.suggest(null);
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

  /** Mark the pixel where a click would help most; null for none. */
  suggest(pixel) {
    this.suggested.hidden = pixel === null;
    if (pixel !== null) this.place(this.suggested, ...pixel);
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
