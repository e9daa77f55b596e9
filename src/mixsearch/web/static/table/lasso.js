// Pointing at a plot: a click on a point, or a line drawn around some.

import { svg } from "../shared/dom.js";

const MIN_MOVE = 6;

export class Lasso {
  /** @type {[number, number][] | null} */
  #path = null;

  /** @param {HTMLElement} element @param {{click: Function, around: Function, hover: Function, leave: Function}} act */
  constructor(element, act) {
    this.element = element;
    this.act = act;
    this.line = svg("path", { class: "table-lasso" });
    this.layer = svg("svg", { class: "table-overlay", "aria-hidden": "true" }, this.line);
    element.append(this.layer);
    element.addEventListener("pointerdown", (event) => this.#start(event));
    element.addEventListener("pointermove", (event) => this.#move(event));
    element.addEventListener("pointerup", (event) => this.#end(event));
    element.addEventListener("pointercancel", () => this.#show(null));
    element.addEventListener("pointerleave", () => act.leave());
  }

  #start(event) {
    if (event.button !== 0) return;
    this.element.setPointerCapture(event.pointerId);
    this.#show([this.#at(event)]);
  }

  #move(event) {
    const point = this.#at(event);
    if (this.#path) this.#show([...this.#path, point]);
    else this.act.hover(...point);
  }

  #end(event) {
    const path = this.#path;
    this.#show(null);
    if (!path) return;
    const isUnlike = event.shiftKey || event.altKey;
    const [[x, y]] = path;
    const isClick = path.every(([px, py]) => Math.hypot(px - x, py - y) < MIN_MOVE);
    if (isClick) this.act.click(x, y, isUnlike);
    else this.act.around(path, isUnlike);
  }

  #show(path) {
    this.#path = path;
    this.line.setAttribute("d", path && path.length > 1 ? `M${path.map((point) => point.join(" ")).join("L")}Z` : "");
  }

  #at(event) {
    const { left, top } = this.element.getBoundingClientRect();
    return /** @type {[number, number]} */ ([event.clientX - left, event.clientY - top]);
  }
}
