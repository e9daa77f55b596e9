// The map of documents: points that are zoomed, panned, pointed at and circled with a lasso.

import { get, getBytes, INDEX_CHANGED, Newest, pathOf } from "../shared/api.js";
import { dateAndLink, nameOfDocument } from "../shared/document-facts.js";
import { h, replace } from "../shared/dom.js";
import { count } from "../shared/numbers.js";
import { PlaneView } from "../shared/plane-view.js";
import { titleOf } from "../shared/wording.js";
import { NO_TOPIC, Points } from "./points.js";

const REACH = 9; // pixels from the pointer to a point
const TITLE_AFTER = 90; // ms: a pointer that passes asks for nothing
const MAX_LIKE = 100; // documents that a search takes as its hint
const N_COLORS = 8;
const MAX_TRIES = 8; // the first map of a large corpus takes longer than one request may
const KEY_STEP = 40; // pixels
const MAX_STRETCH = 1.7; // of a wide map
const FONT = "650 13px system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif";
const HEIGHT = 18;
const MIN_PART = 0.002; // of all points: smaller topics have no name on the map

export class DocumentMap {
  #newest = new Newest();
  #titles = new Newest();
  #timer = 0;
  #frame = 0;
  #known = new Map(); // row -> the document
  /** @type {Set<number>} */
  #chosen = new Set();
  /** @type {number[][]} The lasso, in pixels. */
  #lasso = [];
  #pointed = -1;
  #highlighted = NO_TOPIC;
  /** @type {Points | null} */
  #points = null;
  /** @type {{n: number, x: number, y: number}[]} */
  middles = [];
  /** @type {{series: number[], rest: number, ink: string, card: string, accent: string}} */
  colors = { series: [], rest: 0, ink: "", card: "", accent: "" };

  /** Calls changed() if the index has changed since the topics, which are of the state that tag names. */
  constructor(topics, page, { tag, changed }) {
    this.topics = topics;
    this.page = page;
    this.tag = tag;
    this.changed = changed;
    this.canvas = h("canvas", {
      tabindex: "0",
      role: "application",
      "aria-label": "Map of documents. Arrow keys move, plus and minus zoom, Enter chooses the document in the middle.",
    });
    this.tip = h("div", { class: "point-tip card", hidden: true, role: "status" });
    this.lassoSwitch = h("button", { type: "button", class: "button plain", "aria-pressed": "false", title: "Circle documents with the pointer; or hold Shift", on: { click: () => this.#setLasso(!this.isLasso) } }, "Lasso");
    this.selection = h("p", { class: "chosen", hidden: true });
    this.status = h("p", { class: "map-status muted" }, "Placing the documents …");
    const act = { changed: () => this.draw(), pointed: (x, y) => this.#point(x, y), pressed: (x, y) => this.#press(x, y), circled: (points, isDone) => this.#circle(points, isDone) };
    this.view = new PlaneView(this.canvas, act, { minStretch: 1, maxStretch: MAX_STRETCH });
    this.element = h(
      "div",
      { class: "document-map" },
      this.status,
      this.canvas,
      this.tip,
      h("div", { class: "toolbar map-tools" }, this.lassoSwitch, this.view.buttons(), this.selection),
    );
    this.canvas.addEventListener("keydown", (event) => this.#key(event));
    this.canvas.addEventListener("dblclick", (event) => this.view.zoom(2, event.offsetX, event.offsetY));
    this.canvas.addEventListener("pointerleave", () => this.#point(-1e9, -1e9));
    this.observer = new MutationObserver(() => this.#recolor());
    this.observer.observe(document.documentElement, { attributeFilter: ["data-theme"] });
    this.scheme = matchMedia("(prefers-color-scheme: dark)");
    this.scheme.addEventListener("change", this.#recolor);
  }

  get isLasso() {
    return this.view.isLasso;
  }

  /** Ask for the points of the words of a map; isFresh, if the map is drawn again since the index has changed. */
  async load(asked, isFresh) {
    for (let i = 0; i < MAX_TRIES; i += 1) {
      const result = await this.#newest.ask((signal) => getBytes(pathOf(this.page.index, "overview/documents"), asked, { signal, tag: this.tag }));
      if (result === null) return;
      if (result.answer) {
        this.#points = new Points(result.answer);
        this.middles = this.#points.middles(this.topics.length);
        this.status.hidden = true;
        this.#recolor();
        this.page.announce(`A map of ${count(this.#points.n, "document")}.`);
        return;
      }
      if (result.error.code !== "too_slow") {
        this.status.textContent = result.error.message;
        // Once only, since nobody has clicked: servers of different states behind one address would go on for ever.
        if (result.error.code === INDEX_CHANGED && !isFresh) this.changed();
        return;
      }
    }
    this.status.textContent = "The map takes too long. Try again in a minute.";
  }

  close() {
    this.#newest.stop();
    this.#titles.stop();
    clearTimeout(this.#timer);
    cancelAnimationFrame(this.#frame);
    this.observer.disconnect();
    this.scheme.removeEventListener("change", this.#recolor);
    this.view.close();
  }

  /** Set one topic off from the others; null for none. */
  point(place) {
    this.#highlighted = place ?? NO_TOPIC;
    this.draw();
  }

  /** Draw in the next frame, once for all changes until then. */
  draw() {
    cancelAnimationFrame(this.#frame);
    this.#frame = requestAnimationFrame(() => this.#drawNow());
  }

  #recolor = () => {
    this.colors = readColors(this.element);
    this.draw();
  };

  #drawNow() {
    const points = this.#points;
    const context = this.canvas.getContext("2d");
    const { view, colors, canvas } = this;
    if (!points || !context || view.width === 0) return;
    const ratio = Math.min(devicePixelRatio, 2);
    const [width, height] = [view.width * ratio, view.height * ratio].map(Math.round);
    if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
    const image = context.createImageData(width, height);
    const { scale, stretch, left, top } = view;
    const inImage = { across: scale * stretch * ratio, down: scale * ratio, left: left * ratio, top: top * ratio };
    points.draw(image, inImage, ratio * radiusOf(points.n, view.zoomed), this.#pixelColors());
    context.putImageData(image, 0, 0);
    context.save();
    context.scale(ratio, ratio);
    drawLabels(context, this.middles, this.topics, view, colors);
    this.#drawChosen(context, points);
    if (this.#lasso.length > 1) drawLasso(context, this.#lasso, colors.accent);
    context.restore();
    this.canvas.dataset.drawn = String(points.n);
  }

  /** Return the color of each topic, and of documents without one. */
  #pixelColors() {
    const colors = new Uint32Array(NO_TOPIC + 1).fill(this.colors.rest);
    this.topics.forEach(({ group }, place) => {
      const isShown = this.#highlighted === NO_TOPIC || place === this.#highlighted;
      if (isShown) colors[place] = this.colors.series[group % N_COLORS];
    });
    return colors;
  }

  #drawChosen(context, points) {
    context.lineWidth = 2;
    context.strokeStyle = this.colors.ink;
    for (const i of this.#pointed >= 0 ? [...this.#chosen, this.#pointed] : this.#chosen) {
      const [x, y] = this.view.toPixels(points.x[i], points.y[i]);
      context.beginPath();
      context.arc(x, y, i === this.#pointed ? 6 : 4.5, 0, 2 * Math.PI);
      context.stroke();
    }
  }

  // Pointing and choosing

  #point(x, y) {
    const [across, down] = this.view.toPlace(x, y);
    const i = this.#points?.nearest(across, down, REACH / this.view.scale) ?? -1;
    if (i === this.#pointed) return;
    this.#pointed = i;
    this.canvas.style.cursor = i >= 0 ? "pointer" : "";
    this.draw();
    clearTimeout(this.#timer);
    this.tip.hidden = true;
    if (i >= 0) this.#timer = setTimeout(() => this.#showTitle(i), TITLE_AFTER);
  }

  async #showTitle(i) {
    const points = /** @type {Points} */ (this.#points);
    const row = points.rows[i];
    if (!this.#known.has(row)) {
      const result = await this.#titles.ask((signal) => get(pathOf(this.page.index, `documents/${row}`), {}, { signal, tag: this.tag }));
      if (result?.error?.code === INDEX_CHANGED) this.changed();
      if (!result?.answer) return;
      this.#known.set(row, result.answer);
    }
    if (i !== this.#pointed) return;
    const topic = this.topics[points.topics[i]];
    const about = topic ? `about ${topic.words[0]}: ${titleOf(topic.label)}` : "about none of these topics";
    const [x, y] = this.view.toPixels(points.x[i], points.y[i]);
    replace(this.tip, h("b", {}, nameOfDocument(this.#known.get(row))), dateAndLink({ ...this.#known.get(row), link: null }), h("p", { class: "small muted" }, about));
    this.tip.hidden = false;
    const left = Math.min(Math.max(x + 14, 4), Math.max(this.view.width - this.tip.offsetWidth - 4, 4));
    const below = y + 14 + this.tip.offsetHeight < this.view.height;
    this.tip.style.setProperty("left", `${left}px`);
    this.tip.style.setProperty("top", `${below ? y + 14 : Math.max(y - 14 - this.tip.offsetHeight, 0)}px`);
  }

  #press(x, y) {
    const [across, down] = this.view.toPlace(x, y);
    const i = this.#points?.nearest(across, down, REACH / this.view.scale) ?? -1;
    if (i < 0) return;
    if (!this.#chosen.delete(i)) this.#chosen.add(i);
    this.#showChosen();
  }

  #circle(points, isDone) {
    this.#lasso = isDone ? [] : points;
    if (isDone && points.length > 2) {
      const places = points.map(([x, y]) => this.view.toPlace(x, y));
      for (const i of this.#points?.within(places) ?? []) this.#chosen.add(i);
      this.#setLasso(false);
      this.#showChosen();
    }
    this.draw();
  }

  #showChosen() {
    const n = this.#chosen.size;
    const clear = () => {
      this.#chosen.clear();
      this.#showChosen();
    };
    this.selection.hidden = n === 0;
    const some = n > MAX_LIKE ? ` (${MAX_LIKE} of them)` : "";
    replace(
      this.selection,
      h("span", {}, `${count(n, "document")} chosen `),
      h("button", { type: "button", id: "like-chosen", class: "button", on: { click: () => this.#findLike() } }, `Find more like these${some}`),
      h("button", { type: "button", class: "button plain", on: { click: clear } }, "Clear"),
    );
    this.page.announce(`${count(n, "document")} chosen.`);
    this.draw();
  }

  /** Search for what the chosen documents are about; of many, some at even steps. */
  #findLike() {
    const chosen = [...this.#chosen];
    const step = Math.max(chosen.length / MAX_LIKE, 1);
    const some = Array.from({ length: Math.min(chosen.length, MAX_LIKE) }, (_, i) => chosen[Math.floor(i * step)]);
    const points = /** @type {Points} */ (this.#points);
    this.page.go("topics", { documents: some.map((i) => points.rows[i]) }, { tag: this.tag });
  }

  #setLasso(isOn) {
    this.view.isLasso = isOn;
    this.lassoSwitch.setAttribute("aria-pressed", String(isOn));
  }

  #key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const moves = { ArrowLeft: [1, 0], ArrowRight: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
    const [x, y] = [this.view.width / 2, this.view.height / 2];
    if (event.key in moves) this.view.pan(KEY_STEP * moves[event.key][0], KEY_STEP * moves[event.key][1]);
    else if (event.key === "Enter" || event.key === " ") this.#press(x, y);
    else if (!this.view.press(event.key)) return;
    event.preventDefault();
    this.#point(x, y);
  }
}

/** Return the radius of a point in pixels: smaller the more there are, larger in a closer view. */
function radiusOf(n, zoomed) {
  const own = n > 50_000 ? 0.9 : n > 5_000 ? 1.4 : 2.2;
  return Math.min(own * Math.sqrt(zoomed), 5);
}

function drawLasso(context, points, color) {
  context.beginPath();
  points.forEach(([x, y], i) => (i === 0 ? context.moveTo(x, y) : context.lineTo(x, y)));
  context.closePath();
  context.lineWidth = 1.5;
  context.strokeStyle = color;
  context.setLineDash([5, 4]);
  context.stroke();
  context.setLineDash([]);
}

/** Return the colors of the theme: numbers for pixels, texts for lines. */
function readColors(element) {
  const probe = h("i", { hidden: true });
  element.append(probe);
  const read = (value) => {
    probe.style.setProperty("color", value);
    return getComputedStyle(probe).color;
  };
  const colors = {
    series: Array.from({ length: N_COLORS }, (_, i) => asNumber(read(`var(--series-${i})`))),
    rest: asNumber(read("var(--series-rest)")),
    ink: read("var(--ink)"),
    card: read("var(--card)"),
    accent: read("var(--accent)"),
  };
  probe.remove();
  return colors;
}

/** Return a color such as rgb(1, 2, 3) as the number of a pixel. */
function asNumber(color) {
  const [r, g, b] = (color.match(/[\d.]+/g) ?? ["0", "0", "0"]).map(Number);
  return ((255 << 24) | (Math.round(b) << 16) | (Math.round(g) << 8) | Math.round(r)) >>> 0;
}

/**
 * Draw the names of the largest topics that have room.
 * @param {CanvasRenderingContext2D} context in pixels of the page
 * @param {{n: number, x: number, y: number}[]} middles
 * @param {any[]} topics
 * @param {import("../shared/plane-view.js").PlaneView} view
 * @param {{ink: string, card: string}} colors
 */
function drawLabels(context, middles, topics, view, { ink, card }) {
  const total = middles.reduce((sum, { n }) => sum + n, 0);
  const bySize = middles.map((middle, i) => ({ ...middle, i })).filter(({ n }) => n > MIN_PART * total).sort((a, b) => b.n - a.n);
  /** @type {[number, number, number, number][]} */
  const taken = [];
  context.font = FONT;
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.lineJoin = "round";
  context.lineWidth = 4;
  context.strokeStyle = card;
  context.fillStyle = ink;
  for (const { x, y, i } of bySize) {
    const [word] = topics[i].words;
    const [across, down] = view.toPixels(x, y);
    const half = context.measureText(word).width / 2 + 4;
    /** @type {[number, number, number, number]} */
    const box = [across - half, down - HEIGHT / 2, across + half, down + HEIGHT / 2];
    if (taken.some((other) => box[0] < other[2] && box[2] > other[0] && box[1] < other[3] && box[3] > other[1]) || box[0] < 0 || box[2] > view.width) continue;
    taken.push(box);
    context.strokeText(word, across, down);
    context.fillText(word, across, down);
  }
}
