// A handle for every seed, which can be dragged, moved by keys and removed.

import { h } from "../shared/dom.js";
import { nameOf } from "./seeds.js";

const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const LARGE_STEP = 10;
const PENDING = "#5f6672"; // color of a seed whose segment is not computed yet
const SHAKE = 3; // pixels of the screen within which a press is no drag

export class SeedHandles {
  #handles = new Map(); // shape id -> handle
  /** @type {{id: number, stroke: symbol, offset: number[], from: number[], hasMoved?: boolean} | null} */
  #dragged = null;

  /** @param {import("./stage.js").Stage} stage */
  constructor(stage, act) {
    this.stage = stage;
    this.act = act;
    this.element = h("div", { class: "segment-seeds" });
  }

  /** @param {import("./seeds.js").Segment[]} segments @param {string[]} colours */
  draw(segments, colours) {
    const handles = new Map();
    segments.forEach((segment, i) => {
      for (const shape of segment.shapes) {
        const handle = this.#handles.get(shape.id) ?? this.#handle(shape.id);
        this.#fill(handle, segments, segment, shape, colours[i] ?? PENDING);
        handles.set(shape.id, handle);
      }
    });
    const hadFocus = this.element.contains(document.activeElement);
    this.#handles = handles;
    arrange(this.element, [...handles.values()]);
    if (hadFocus && !this.element.contains(document.activeElement)) this.stage.element.focus(); // a seed was removed by a key
  }

  focus(shapeId) {
    this.#handles.get(shapeId)?.focus();
  }

  #fill(handle, segments, segment, shape, colour) {
    const { points, isNot } = shape;
    const [x, y] = points[Math.floor(points.length / 2)];
    const own = segment.shapes.filter((each) => !each.isNot);
    const which = own.length > 1 ? `, seed ${own.indexOf(shape) + 1} of ${own.length}` : "";
    const name = nameOf(segments, segment);
    const what = isNot ? `not ${name}` : points.length > 1 ? `${name}, stroke` : name;
    handle.dataset.x = x;
    handle.dataset.y = y;
    this.stage.place(handle, x, y);
    paint(handle, colour);
    handle.textContent = isNot ? "×" : segments.indexOf(segment) + 1;
    handle.classList.toggle("is-not", isNot);
    handle.classList.toggle("is-stroke", points.length > 1);
    handle.setAttribute("aria-label", `${what}${isNot ? "" : which}, at ${x}, ${y}`);
  }

  #handle(id) {
    return h("button", {
      type: "button",
      class: "segment-seed",
      title: "Drag to move; Delete or right-click to remove",
      on: {
        pointerdown: (event) => this.#grab(event, id),
        pointermove: (event) => this.#drag(event),
        pointerup: () => this.#release(),
        pointercancel: () => this.#release(),
        keydown: (event) => this.#pressed(event, id),
        contextmenu: (event) => {
          event.preventDefault();
          this.#release();
          this.act.remove(id);
        },
      },
    });
  }

  #grab(event, id) {
    const handle = event.currentTarget;
    if (event.button !== 0 || handle.classList.contains("is-stroke")) return;
    handle.setPointerCapture(event.pointerId);
    const box = handle.getBoundingClientRect();
    const middle = [box.left + box.width / 2, box.top + box.height / 2];
    this.#dragged = { id, stroke: Symbol("drag"), offset: [middle[0] - event.clientX, middle[1] - event.clientY], from: [event.clientX, event.clientY] };
  }

  #drag(event) {
    const dragged = this.#dragged;
    if (dragged === null) return;
    const [fromX, fromY] = dragged.from;
    if (!dragged.hasMoved && Math.hypot(event.clientX - fromX, event.clientY - fromY) < SHAKE) return;
    dragged.hasMoved = true;
    const [offsetX, offsetY] = dragged.offset;
    this.act.drag(dragged.id, ...this.stage.pixelAt(event.clientX + offsetX, event.clientY + offsetY), dragged.stroke);
  }

  #release() {
    if (this.#dragged?.hasMoved) this.act.letGo();
    this.#dragged = null;
  }

  #pressed(event, id) {
    if (event.key === "Delete" || event.key === "Backspace") {
      event.preventDefault();
      this.act.remove(id);
    } else if (ARROWS[event.key] && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      if (!event.currentTarget.classList.contains("is-stroke")) this.#nudge(event, id);
    }
  }

  /** Move by one pixel of the screen, which can be several of the image. */
  #nudge(event, id) {
    const { width } = this.stage.size;
    const shown = this.stage.element.getBoundingClientRect().width || width;
    const step = Math.max(Math.round(width / shown), 1) * (event.shiftKey ? LARGE_STEP : 1);
    const [right, down] = ARROWS[event.key];
    const { x, y } = event.currentTarget.dataset;
    this.act.nudge(id, ...this.stage.clamp(Number(x) + step * right, Number(y) + step * down));
  }
}

/** Set the color of a segment, with a black or white number for contrast. */
export function paint(element, colour) {
  element.style.setProperty("background-color", colour);
  element.style.setProperty("color", lightness(colour) > 0.18 ? "#000" : "#fff");
}

/** Return the relative luminance of #rrggbb (WCAG). */
function lightness(colour) {
  const [red, green, blue] = [1, 3, 5].map((start) => {
    const part = parseInt(colour.slice(start, start + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** Set the children of an element; if they are the same, do nothing. */
export function arrange(parent, nodes) {
  if (parent.children.length === nodes.length && nodes.every((node, i) => parent.children[i] === node)) return;
  const focused = document.activeElement;
  parent.replaceChildren(...nodes);
  if (focused instanceof HTMLElement && focused.isConnected && focused !== document.activeElement) focused.focus();
}
