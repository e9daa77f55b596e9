// Zoom and pan: the picture grows within a box that scrolls, so that fingers, wheels and keys move it as anything else.

import { h } from "../shared/dom.js";

const STEP = 1.5;
const MAX_ZOOM = 12;

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
