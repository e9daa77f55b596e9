// The segmentation view: an image, its seeds and segments.

import { ApiError, get, send, url } from "../shared/api.js";
import { h, replace } from "../shared/dom.js";
import { percent } from "../shared/numbers.js";
import { SegmentList } from "./list.js";
import * as seeds from "./seeds.js";
import { Stage } from "./stage.js";
import { ASSIGN, Choice, Downloads, FEATURES, Look } from "./tools.js";
import { invitation, listen, picker } from "./upload.js";

const QUICK_PIXELS = 600_000; // pixels requested while clicking; downloads have all
const DIM_AFTER = 200;
const MAX_STEPS = 200;

const files = new Map(); // image name -> file, in case the server drops the image
/** @type {URLSearchParams | null} What the view showed when it was last left. */
let left = null;

export function show(root, state, page) {
  const view = new Segmenting(root, page);
  view.open(!state.has("picture") && left ? left : state);
  return { update: (newState) => view.open(newState), close: () => view.close() };
}

/** @typedef {{picture: string, width: number, height: number}} Picture */

class Segmenting {
  /** @type {Picture | null} As the server has it. */
  #picture = null;
  /** @type {import("./seeds.js").Segment[]} */
  #segments = [];
  /** @type {import("./seeds.js").Segment[][]} Lists of segments before, for undoing. */
  #past = [];
  /** @type {symbol | string | null} What the last change belongs to: all of a drag is one step. */
  #stroke = null;
  /** @type {number | null} The segment that clicks add pixels to. */
  #chosen = null;
  /** @type {number | null} The segment that was last clicked into being. */
  #last = null;
  /** @type {any[]} What the server found, in the order of the segments. */
  #results = [];
  /** @type {string[]} By number; they never change. */
  #colours = [];
  #turn = 0; // number of addresses opened
  #isDragging = false;
  #isAsking = false;
  #mustAsk = false;
  #isClosed = false;
  /** @type {number | undefined} */
  #timer;

  constructor(root, page) {
    this.page = page;
    this.root = root;
    this.options = { features: "rich", assign: "auto" };
    this.stage = new Stage({
      add: (x, y, how) => this.#add(x, y, how),
      drag: (id, x, y, stroke) => this.#move(id, x, y, stroke, true),
      letGo: () => this.#letGo(),
      nudge: (id, x, y) => this.#move(id, x, y, `keys ${id}`),
      remove: (id) => this.#change(seeds.removePixel(this.#segments, id)),
    });
    this.list = new SegmentList(page.settings, {
      rename: (id, name) => this.#change(seeds.rename(this.#segments, id, name), `name ${id}`),
      choose: (id) => this.#choose(this.#chosen === id ? null : id),
      removeSegment: (id) => this.#change(seeds.removeSegment(this.#segments, id)),
      remove: (id) => this.#change(seeds.removePixel(this.#segments, id)),
    });
    this.features = new Choice("Compare pixels by", "features", FEATURES, (value) => this.#option("features", value));
    this.assign = new Choice("How pixels are given to segments", "assign", ASSIGN, (value) => this.#option("assign", value));
    this.look = new Look((opacity) => this.#drawLook(opacity));
    this.downloads = new Downloads();
    this.stopListening = listen({
      upload: (file) => this.#upload(file),
      refused: (error) => page.showError(error),
      hovering: (is) => root.classList.toggle("is-hovered", is),
    });
    document.addEventListener("keydown", this.#shortcut);
    this.hint = h("p", { class: "segment-hint muted" });
    this.trouble = h("p", { class: "segment-trouble", role: "alert", hidden: true });
    this.notes = h("ul", { class: "segment-notes small" });
    this.time = h("p", { class: "segment-time small muted" });
    this.title = h("p", { class: "segment-title small muted" });
    this.undo = h("button", { type: "button", class: "button plain", title: "Ctrl-Z", on: { click: () => this.#undo() } }, "Undo");
    this.clear = h("button", { type: "button", class: "button plain", on: { click: () => this.#change([]) } }, "Clear");
    const tools = h("div", { class: "toolbar segment-tools" }, picker("Another picture", this.page.settings.image_formats, (file) => this.#upload(file), "button plain"), this.undo, this.clear, this.title);
    const main = h("div", { class: "segment-main" }, tools, h("div", { class: "segment-message" }, this.trouble, this.hint), h("div", { class: "segment-room" }, this.stage.element), h("div", { class: "segment-under" }, this.look.element, this.time));
    const side = h("aside", { class: "segment-side card", "aria-label": "Segments and settings" }, this.list.element, this.notes, this.features.element, this.assign.element, this.downloads.element);
    this.work = h("div", { class: "segment-work" }, main, side);
    this.invitation = invitation(this.page.settings.image_formats, { upload: (file) => this.#upload(file), example: () => this.#openExample() });
    this.waiting = h("p", { class: "card segment-waiting", hidden: true });
    replace(this.root, h("h1", { class: "visually-hidden" }, "Segment a picture"), this.waiting, this.invitation, this.work);
    this.#drawLook(this.look.opacity);
    this.#showPicture();
  }

  /** Show the state of an address. */
  async open(state) {
    this.options = { features: chosenOf(FEATURES, state.get("features")), assign: chosenOf(ASSIGN, state.get("assign")) };
    this.features.value = this.options.features;
    this.assign.value = this.options.assign;
    const wanted = state.get("picture");
    const mine = ++this.#turn;
    if (wanted !== null && wanted !== this.#picture?.picture && !(await this.#load(wanted, mine))) return;
    if (mine !== this.#turn || this.#isClosed) return;
    if (wanted === null) this.#picture = null;
    this.#past = [];
    this.#segments = wanted === null ? [] : seeds.read(state.getAll("seed"));
    this.#showPicture();
    this.#note();
    this.#draw();
    this.#ask();
  }

  close() {
    left = this.#picture ? this.#state : null;
    this.#isClosed = true;
    this.stopListening();
    clearTimeout(this.#timer);
    document.removeEventListener("keydown", this.#shortcut);
  }

  // Images

  /** The image, which must be there. */
  get #shown() {
    return /** @type {Picture} */ (this.#picture);
  }

  /** Load an image, unless another one is requested meanwhile. */
  async #load(name, turn) {
    const file = files.get(name);
    try {
      const image = await get(`api/pictures/${encodeURIComponent(name)}`);
      if (turn !== this.#turn) return false;
      this.#picture = image;
      return true;
    } catch (error) {
      if (turn !== this.#turn) return false;
      if (isGone(error) && file) return this.#upload(file, { keepSeeds: true });
      this.#picture = null;
      this.#segments = [];
      this.#showPicture();
      this.page.note({});
      this.page.showError(error);
      return false;
    }
  }

  #openExample() {
    this.page.go("segment", { picture: this.page.settings.example_image });
  }

  /** Upload an image and show it. */
  async #upload(file, { keepSeeds = false } = {}) {
    replace(this.waiting, `Reading ${file.name || "the picture"} …`);
    this.waiting.hidden = keepSeeds;
    try {
      const image = await send("POST", "api/pictures", file);
      if (this.#isClosed) return false;
      this.#picture = image;
      files.set(image.picture, file);
    } catch (error) {
      this.page.showError(error);
      return false;
    } finally {
      this.waiting.hidden = true;
    }
    if (keepSeeds) {
      this.page.note(this.#state);
      return true;
    }
    this.#segments = [];
    this.#past = [];
    this.page.go("segment", this.#state);
    return true;
  }

  #showPicture() {
    const has = this.#picture !== null;
    this.invitation.hidden = has;
    this.work.hidden = !has;
    this.#results = [];
    this.#chosen = null;
    if (!has) return;
    const { picture, width, height } = this.#shown;
    this.stage.show(this.#shown, `api/pictures/${encodeURIComponent(picture)}.png`);
    const name = picture === this.page.settings.example_image ? "Example" : files.get(picture)?.name;
    this.title.textContent = `${name ? `${name}, ` : ""}${width} × ${height} pixels`;
  }

  // User actions

  #add(x, y, { toSame, byKey = false }) {
    const place = byKey ? seeds.freeColumn(this.#segments, x, y, this.#shown.width) : x;
    if (seeds.isTaken(this.#segments, place, y)) return;
    const into = this.#chosen ?? (toSame ? this.#last : null);
    const isKnown = this.#segments.some(({ id }) => id === into);
    const changed = isKnown ? seeds.extend(this.#segments, into, place, y) : seeds.begin(this.#segments, place, y);
    const segment = isKnown ? changed.find(({ id }) => id === into) : changed.at(-1);
    this.#last = segment.id;
    this.#change(changed);
    if (byKey) this.stage.focusSeed(segment.pixels.at(-1).id);
  }

  #move(id, x, y, stroke, isDragged = false) {
    this.#isDragging = isDragged;
    const owner = this.#segments.find(({ pixels }) => pixels.some((pixel) => pixel.id === id));
    if (!owner || seeds.isTaken(this.#segments, x, y)) return;
    this.#last = owner.id;
    this.#change(seeds.move(this.#segments, id, x, y), stroke);
  }

  /** After dragging, replace the coarse segments by full ones. */
  #letGo() {
    this.#isDragging = false;
    this.#ask();
  }

  #choose(id) {
    this.#chosen = id;
    this.#draw();
  }

  #option(name, value) {
    this.options[name] = value;
    this.#note();
    this.#ask();
  }

  #drawLook(opacity) {
    this.stage.opacity = opacity;
    this.#drawDownloads();
  }

  /**
   * Change the segments. Changes of one stroke are undone together.
   * @param {import("./seeds.js").Segment[]} segments
   * @param {symbol | string | null} [stroke]
   */
  #change(segments, stroke = null) {
    if (stroke === null || stroke !== this.#stroke) this.#past = [...this.#past, this.#segments].slice(-MAX_STEPS);
    this.#stroke = stroke;
    this.#become(segments);
  }

  #undo() {
    if (this.#past.length === 0) return;
    this.#stroke = null;
    this.#become(this.#past.pop());
  }

  #become(segments) {
    // Results stay with their segments until new ones arrive.
    const known = new Map(this.#segments.map(({ id }, i) => [id, this.#results[i]]));
    const rest = segments.length === 1 ? this.#results.slice(this.#segments.length) : [];
    this.#results = [...segments.map(({ id }) => known.get(id)), ...rest];
    this.#segments = segments;
    if (!segments.some(({ id }) => id === this.#chosen)) this.#chosen = null;
    this.#draw();
    this.#settle();
    this.#ask();
  }

  /** Write the address after a pause: browsers limit how often it changes. */
  #settle() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => !this.#isClosed && this.#note(), 250);
  }

  #note() {
    this.page.note(this.#state);
  }

  get #state() {
    if (this.#picture === null) return new URLSearchParams();
    const state = new URLSearchParams([["picture", this.#picture.picture], ...seeds.written(this.#segments).map((seed) => ["seed", seed])]);
    if (this.options.features !== "rich") state.set("features", this.options.features);
    if (this.options.assign !== "auto") state.set("assign", this.options.assign);
    return state;
  }

  #shortcut = (event) => {
    const isUndo = (event.ctrlKey || event.metaKey) && !event.shiftKey && event.key.toLowerCase() === "z";
    if (isUndo && event.target.type !== "text") {
      event.preventDefault();
      this.#undo();
    } else if (event.key === "Escape" && this.#chosen !== null) {
      this.#choose(null);
    }
  };

  // Requests: one at a time; changes made meanwhile are sent next

  async #ask() {
    this.#mustAsk = true;
    if (this.#isAsking) return;
    this.#isAsking = true;
    const dim = setTimeout(() => this.stage.element.setAttribute("aria-busy", "true"), DIM_AFTER);
    while (this.#mustAsk && !this.#isClosed) {
      this.#mustAsk = false;
      await this.#askOnce();
    }
    clearTimeout(dim);
    this.stage.element.removeAttribute("aria-busy");
    this.#isAsking = false;
  }

  async #askOnce() {
    const [picture, segments] = [this.#picture, this.#segments];
    if (picture === null || segments.length === 0) return this.#clearResults();
    const start = performance.now();
    const asked = { path: this.#path, params: { ...this.#params, every: everyOf(picture, this.#isDragging) } };
    try {
      const drawn = loaded(url(`${asked.path}/labels.png`, asked.params));
      drawn.catch(() => {}); // the JSON answer reports the error
      const answer = await get(asked.path, asked.params);
      const image = await drawn;
      if (this.#picture === picture && !this.#isClosed) this.#showResults(answer, image, segments, performance.now() - start);
    } catch (error) {
      if (this.#picture === picture && !this.#isClosed) await this.#fail(error);
    }
    return undefined;
  }

  get #path() {
    return `api/pictures/${encodeURIComponent(this.#shown.picture)}/segments`;
  }

  get #params() {
    return { seed: seeds.written(this.#segments), ...this.options };
  }

  #showResults(answer, image, segments, milliseconds) {
    const byId = new Map(segments.map(({ id }, i) => [id, answer.segments[i]]));
    const rest = answer.segments.slice(segments.length);
    answer.segments.forEach(({ color: colour }, i) => (this.#colours[i] = colour));
    this.#results = [...this.#segments.map(({ id }) => byId.get(id)), ...(this.#segments.length === 1 ? rest : [])];
    this.stage.drawLabels(image);
    this.trouble.hidden = true;
    replace(this.notes, answer.warnings.map(({ message }) => h("li", {}, message)));
    this.time.textContent = `${answer.segments.length} segments in ${(milliseconds / 1000).toFixed(2)} s`;
    this.#draw();
    this.#drawDownloads();
    if (!this.#mustAsk) this.page.announce(answer.segments.map(({ name, share }) => `${name}: ${percent(share)}`).join(", "));
  }

  #clearResults() {
    this.#results = [];
    this.stage.drawLabels(null);
    this.trouble.hidden = true;
    replace(this.notes);
    this.time.textContent = "";
    this.#draw();
    this.#drawDownloads();
  }

  /** Upload the image again if the server was restarted or dropped it; otherwise show the error. */
  async #fail(error) {
    const file = files.get(this.#shown.picture);
    if (isGone(error) && file && (await this.#upload(file, { keepSeeds: true }))) {
      this.#mustAsk = true;
      return;
    }
    this.#clearResults();
    replace(this.trouble, error.message);
    this.trouble.hidden = false;
  }

  // Drawing

  #draw() {
    this.stage.drawSeeds(this.#segments, this.#colours);
    this.list.draw(this.#segments, this.#results, this.#chosen, this.#colours);
    this.undo.disabled = this.#past.length === 0;
    this.clear.disabled = this.#segments.length === 0;
    replace(this.hint, this.#advice());
  }

  #advice() {
    if (this.#segments.length === 0) return "Click a spot of a part that you want to find, such as the sky.";
    const chosen = this.#segments.find(({ id }) => id === this.#chosen);
    if (!chosen && matchMedia("(pointer: coarse)").matches) return "Tap another part. Drag a seed to move it; × in the list removes a segment.";
    if (!chosen) return "Click another part, or Shift-click to add a pixel to the last one. Drag a seed to move it, right-click to remove it.";
    const done = h("button", { type: "button", class: "link", on: { click: () => this.#choose(null) } }, "Done");
    return [`Every click adds a pixel to ${seeds.nameOf(this.#segments, chosen)}. `, done];
  }

  #drawDownloads() {
    const isComplete = this.#picture !== null && this.#results.length > 0 && this.#results.every(Boolean);
    this.downloads.draw(isComplete ? { path: this.#path, params: this.#params, opacity: this.look.opacity, name: this.#fileName } : null);
  }

  get #fileName() {
    const { picture } = this.#shown;
    return picture === this.page.settings.example_image ? picture : (files.get(picture)?.name ?? "").replace(/\.[^.]*$/, "") || "picture";
  }
}

/** @param {Record<string, string[]>} allowed @param {string | null} wanted */
function chosenOf(allowed, wanted) {
  return wanted !== null && Object.hasOwn(allowed, wanted) ? wanted : Object.keys(allowed)[0];
}

/**
 * Return whether the server has dropped the image.
 * @param {unknown} error
 */
function isGone(error) {
  return error instanceof ApiError && error.code === "gone";
}

/** Return the thinning factor: every n-th pixel of every n-th row is requested. */
function everyOf({ width, height }, isCoarse) {
  const every = Math.max(Math.round(Math.sqrt((width * height) / QUICK_PIXELS)), 1);
  return isCoarse ? 2 * every : every;
}

/** Load and decode an image. */
async function loaded(address) {
  const image = new Image();
  image.src = address;
  await image.decode();
  return image;
}
