// Outlines of the segments over the picture, and the stroke that is being drawn.

import { replace, svg } from "../shared/dom.js";

export class Outlines {
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

  get isEmpty() {
    return this.#paths.length === 0;
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
