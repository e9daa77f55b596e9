// The image with its segments and a handle for every seed.

import { h } from "../shared/dom.js";
import { arrange } from "./nodes.js";
import { nameOf } from "./seeds.js";

const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const LARGE_STEP = 10;
const PENDING = "#5f6672"; // color of a seed whose segment is not computed yet
const MAX_ENLARGED = 8;

export class Stage {
  #handles = new Map(); // pixel id -> handle
  /** @type {{id: number, stroke: symbol, offset: number[], from: number[], hasMoved?: boolean} | null} */
  #dragged = null;
  /** @type {{width: number, height: number} | null} */
  #picture = null;

  /** Calls add(x, y, {toSame}), drag(pixelId, x, y, stroke), letGo(), nudge(pixelId, x, y) and remove(pixelId). */
  constructor(act) {
    this.act = act;
    this.image = h("img", { class: "segment-image", alt: "The picture", draggable: "false" });
    this.labels = h("img", { class: "segment-labels", alt: "", draggable: "false", hidden: true });
    this.seeds = h("div", { class: "segment-seeds" });
    this.element = h(
      "div",
      {
        class: "segment-stage",
        tabindex: 0,
        role: "group",
        "aria-label": "The picture with its seeds. Enter puts a seed in the middle; arrow keys move a seed, Delete removes it.",
        on: { click: (event) => this.#clicked(event), keydown: (event) => this.#pressed(event) },
      },
      this.image,
      this.labels,
      this.seeds,
    );
  }

  show(picture, source) {
    this.#picture = picture;
    this.image.src = source;
    const { width, height } = picture;
    this.element.style.setProperty("aspect-ratio", `${width} / ${height}`);
    this.element.style.setProperty("width", `min(100%, ${MAX_ENLARGED * width}px, calc(72vh * ${width / height}))`);
    this.drawLabels(null);
  }

  /** Show an image of the segments over the picture; null for none. */
  drawLabels(image) {
    this.labels.hidden = image === null;
    if (image !== null) this.labels.src = image.src;
  }

  set opacity(opacity) {
    this.labels.style.setProperty("opacity", opacity);
  }

  drawSeeds(segments, colours) {
    const handles = new Map();
    segments.forEach((segment, number) => {
      segment.pixels.forEach((pixel, i) => {
        const handle = this.#handles.get(pixel.id) ?? this.#handle(pixel.id);
        const which = segment.pixels.length > 1 ? `, seed ${i + 1} of ${segment.pixels.length}` : "";
        this.#place(handle, pixel);
        paint(handle, colours[number] ?? PENDING);
        handle.textContent = number + 1;
        handle.setAttribute("aria-label", `${nameOf(segments, segment)}${which}, at ${pixel.x}, ${pixel.y}`);
        handles.set(pixel.id, handle);
      });
    });
    const hadFocus = this.seeds.contains(document.activeElement);
    this.#handles = handles;
    arrange(this.seeds, [...handles.values()]);
    if (hadFocus && !this.seeds.contains(document.activeElement)) this.element.focus(); // a seed was removed by a key
  }

  focusSeed(pixelId) {
    this.#handles.get(pixelId)?.focus();
  }

  #handle(id) {
    const handle = h("button", {
      type: "button",
      class: "segment-seed",
      title: "Drag to move; Delete or right-click to remove",
      on: {
        pointerdown: (event) => this.#grab(event, id),
        pointermove: (event) => this.#drag(event),
        pointerup: () => this.#release(),
        pointercancel: () => this.#release(),
        keydown: (event) => this.#pressedOn(event, id),
        contextmenu: (event) => {
          event.preventDefault();
          this.#release();
          this.act.remove(id);
        },
      },
    });
    return handle;
  }

  #place(handle, { x, y }) {
    const { width, height } = this.#size;
    handle.dataset.x = x;
    handle.dataset.y = y;
    // An address can contain pixels outside the image.
    handle.style.setProperty("left", `${(100 * (within(x, width) + 0.5)) / width}%`);
    handle.style.setProperty("top", `${(100 * (within(y, height) + 0.5)) / height}%`);
  }

  /** The size of the image, which must be there. */
  get #size() {
    return /** @type {{width: number, height: number}} */ (this.#picture);
  }

  /** Return the pixel of the image at a position on the screen. */
  #pixelAt(clientX, clientY) {
    const box = this.element.getBoundingClientRect();
    const { width, height } = this.#size;
    return [
      within(Math.floor(((clientX - box.left) / box.width) * width), width),
      within(Math.floor(((clientY - box.top) / box.height) * height), height),
    ];
  }

  // Pointer

  #clicked(event) {
    if (this.#picture === null || this.seeds.contains(event.target)) return;
    this.act.add(...this.#pixelAt(event.clientX, event.clientY), { toSame: event.shiftKey });
  }

  #grab(event, id) {
    if (event.button !== 0) return;
    const handle = event.currentTarget;
    handle.setPointerCapture(event.pointerId);
    const box = handle.getBoundingClientRect();
    const middle = [box.left + box.width / 2, box.top + box.height / 2];
    this.#dragged = { id, stroke: Symbol("drag"), offset: [middle[0] - event.clientX, middle[1] - event.clientY], from: [event.clientX, event.clientY] };
  }

  #drag(event) {
    const dragged = this.#dragged;
    if (dragged === null) return;
    const [fromX, fromY] = dragged.from;
    if (!dragged.hasMoved && Math.hypot(event.clientX - fromX, event.clientY - fromY) < 3) return; // a shaky click
    dragged.hasMoved = true;
    const [offsetX, offsetY] = dragged.offset;
    this.act.drag(dragged.id, ...this.#pixelAt(event.clientX + offsetX, event.clientY + offsetY), dragged.stroke);
  }

  #release() {
    if (this.#dragged?.hasMoved) this.act.letGo();
    this.#dragged = null;
  }

  // Keyboard

  #pressed(event) {
    if (event.target !== this.element || event.key !== "Enter" || this.#picture === null) return;
    event.preventDefault();
    const { width, height } = this.#size;
    this.act.add(Math.floor(width / 2), Math.floor(height / 2), { toSame: event.shiftKey, byKey: true });
  }

  #pressedOn(event, id) {
    if (event.key === "Delete" || event.key === "Backspace") {
      event.preventDefault();
      this.act.remove(id);
    } else if (ARROWS[event.key] && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      this.#nudge(event, id);
    }
  }

  /** Move by one pixel of the screen, which can be several of the image. */
  #nudge(event, id) {
    const { width, height } = this.#size;
    const shown = this.element.getBoundingClientRect().width || width;
    const step = Math.max(Math.round(width / shown), 1) * (event.shiftKey ? LARGE_STEP : 1);
    const [right, down] = ARROWS[event.key];
    const { x, y } = event.currentTarget.dataset;
    this.act.nudge(id, within(Number(x) + step * right, width), within(Number(y) + step * down, height));
  }
}

function within(place, size) {
  return Math.min(Math.max(place, 0), size - 1);
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
