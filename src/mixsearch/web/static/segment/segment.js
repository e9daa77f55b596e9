// The segmentation view: an image, its seeds and segments.

import { send, url } from "../shared/api.js";
import { h, replace } from "../shared/dom.js";
import { percent } from "../shared/numbers.js";
import { Doubt } from "./doubt.js";
import { SegmentList } from "./list.js";
import * as pictures from "./pictures.js";
import { everyOf, Requests } from "./requests.js";
import * as seeds from "./seeds.js";
import { Settings } from "./settings.js";
import { Stage } from "./stage.js";
import { Steps } from "./steps.js";
import { Choice, Downloads, Look, MODES } from "./tools.js";
import { imagePicker, invitation, listen } from "./upload.js";

/** @type {URLSearchParams | null} What the view showed when it was last left. */
let left = null;

export function show(root, state, page) {
  const view = new Segmenting(root, page);
  view.open(!state.has("picture") && left ? left : state);
  return { update: (newState) => view.open(newState), close: () => view.close() };
}

class Segmenting {
  /** @type {import("./pictures.js").Picture | null} As the server has it. */
  #picture = null;
  #steps = new Steps();
  /** @type {number | null} The segment that clicks add pixels to. */
  #chosen = null;
  /** @type {number | null} The segment that was last clicked into being. */
  #last = null;
  /** @type {any[]} What the server found, in the order of the segments. */
  #results = [];
  /** @type {any} The last answer of the server, with the outlines that are shown. */
  #answer = null;
  /** @type {[number, number] | null} Where the page suggests a click. */
  #suggested = null;
  /** @type {string[]} By number; they never change. */
  #colours = [];
  #turn = 0; // number of addresses opened
  #isDragging = false;
  #isClosed = false;
  /** @type {number | undefined} */
  #timer;

  constructor(root, page) {
    this.page = page;
    this.root = root;
    this.requests = new Requests(
      () => this.#askOnce(),
      (isBusy, isSlow) => {
        this.stage.element.setAttribute("aria-busy", isBusy);
        this.stage.element.classList.toggle("is-slow", isSlow);
      },
    );
    this.stage = new Stage({
      add: (x, y, how) => this.#add(x, y, how),
      brush: (points, { toSame }) => this.#put(points, toSame),
      exclude: (x, y, index) => this.#exclude(x, y, index),
      hover: (index) => this.stage.outlines.highlight(index),
      drag: (id, x, y, stroke) => this.#move(id, x, y, stroke, true),
      letGo: () => this.#letGo(),
      nudge: (id, x, y) => this.#move(id, x, y, `keys ${id}`),
      remove: (id) => this.#change(seeds.removeShape(this.#segments, id)),
    });
    this.list = new SegmentList(page.settings, {
      rename: (id, name) => this.#change(seeds.rename(this.#segments, id, name), `name ${id}`),
      choose: (id) => this.#choose(this.#chosen === id ? null : id),
      hover: (id) => this.stage.outlines.highlight(this.#segments.findIndex((each) => each.id === id)),
      removeSegment: (id) => this.#change(seeds.removeSegment(this.#segments, id)),
      remove: (id) => this.#change(seeds.removeShape(this.#segments, id)),
    });
    this.mode = new Choice("On the picture", "mode", MODES, (value) => this.#setMode(value), { isPlain: true });
    this.settings = new Settings(() => this.#changeSettings());
    this.look = new Look((opacity) => this.#drawLook(opacity));
    this.doubt = new Doubt((index) => this.#resolve(index));
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
    const tools = h("div", { class: "toolbar segment-tools" }, imagePicker("Another picture", this.page.settings.image_formats, (file) => this.#upload(file), "button plain"), this.undo, this.clear, this.title);
    const under = h("div", { class: "segment-under" }, this.stage.zoom.controls, this.look.element, this.time);
    const main = h("div", { class: "segment-main" }, tools, this.mode.element, h("div", { class: "segment-message" }, this.trouble, this.hint), h("div", { class: "segment-room" }, this.stage.zoom.box), under, this.doubt.element);
    const side = h("aside", { class: "segment-side card", "aria-label": "Segments and settings" }, this.list.element, this.notes, this.settings.pieces.element, this.downloads.element, this.settings.element);
    this.work = h("div", { class: "segment-work" }, main, side);
    this.invitation = invitation(this.page.settings.image_formats, { upload: (file) => this.#upload(file), example: () => this.#openExample() });
    this.waiting = h("p", { class: "card segment-waiting", hidden: true });
    replace(this.root, h("h1", { class: "visually-hidden" }, "Segment a picture"), this.waiting, this.invitation, this.work);
    this.#drawLook(this.look.opacity);
    this.#setMode("point");
    this.#showPicture();
  }

  /** Show the state of an address. */
  async open(state) {
    this.settings.read(state);
    const wanted = state.get("picture");
    const mine = ++this.#turn;
    if (wanted !== null && wanted !== this.#picture?.picture && !(await this.#load(wanted, mine))) return;
    if (mine !== this.#turn || this.#isClosed) return;
    if (wanted === null) this.#picture = null;
    this.#steps.start(wanted === null ? [] : seeds.read(state));
    this.#last = this.#segments.at(-1)?.id ?? null;
    this.#showPicture();
    this.#note();
    this.#draw();
    this.requests.ask();
  }

  close() {
    left = this.#picture ? this.#state : null;
    this.#isClosed = true;
    this.requests.close();
    this.stopListening();
    clearTimeout(this.#timer);
    document.removeEventListener("keydown", this.#shortcut);
  }

  // Images

  get #segments() {
    return this.#steps.segments;
  }

  /** The image, which must be there. */
  get #shown() {
    return /** @type {import("./pictures.js").Picture} */ (this.#picture);
  }

  /** Load an image, unless another one is requested meanwhile. */
  async #load(name, turn) {
    try {
      const image = await pictures.load(name);
      if (turn !== this.#turn) return false;
      this.#picture = image;
      return true;
    } catch (error) {
      if (turn !== this.#turn) return false;
      this.#picture = null;
      this.#steps.start([]);
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
  async #upload(file) {
    replace(this.waiting, `Reading ${file.name || "the picture"} …`);
    this.waiting.hidden = false;
    try {
      const image = await pictures.upload(file, this.page.settings);
      if (this.#isClosed) return;
      this.#picture = image;
    } catch (error) {
      this.page.showError(error);
      return;
    } finally {
      this.waiting.hidden = true;
    }
    this.#steps.start([]);
    this.page.go("segment", this.#state);
  }

  #showPicture() {
    const has = this.#picture !== null;
    this.invitation.hidden = has;
    this.work.hidden = !has;
    this.#results = [];
    this.#answer = null;
    this.#chosen = null;
    this.#suggest();
    if (!has) return;
    this.stage.show(this.#shown, `api/pictures/${encodeURIComponent(this.#shown.picture)}.png`);
    this.title.textContent = pictures.titleOf(this.#shown, this.page.settings.example_image);
  }

  // User actions

  #add(x, y, { toSame, byKey = false }) {
    const place = byKey ? seeds.freeColumn(this.#segments, x, y, this.#shown.width) : x;
    if (seeds.isTaken(this.#segments, place, y)) return;
    const segment = this.#put([[place, y]], toSame);
    if (byKey) this.stage.handles.focus(segment.shapes.at(-1).id);
  }

  /** Add a shape to the chosen segment, or to the last one, or start a segment with it. Return the segment. */
  #put(points, toSame) {
    const into = this.#chosen ?? (toSame ? this.#last : null);
    const isKnown = this.#segments.some(({ id }) => id === into);
    const changed = isKnown ? seeds.extend(this.#segments, into, points) : seeds.begin(this.#segments, points);
    const segment = isKnown ? changed.find(({ id }) => id === into) : changed.at(-1);
    this.#last = segment.id;
    this.#change(changed);
    return segment;
  }

  /** Take a pixel out of the segment that covers it; what is no segment yet is the rest of the first. */
  #exclude(x, y, index) {
    if (index < 0 || seeds.isTaken(this.#segments, x, y)) return;
    const segment = this.#segments[index];
    if (segment) this.#change(seeds.extend(this.#segments, segment.id, [[x, y]], { isNot: true }));
    else this.#change(seeds.extend(this.#segments, this.#segments[0].id, [[x, y]]));
  }

  /** Say what is at the suggested pixel: a segment, or something else. */
  #resolve(index) {
    if (this.#suggested === null || seeds.isTaken(this.#segments, ...this.#suggested)) return;
    const segment = index === null ? undefined : this.#segments[index];
    if (segment) this.#change(seeds.extend(this.#segments, segment.id, [this.#suggested]));
    else if (index === null) this.#change(seeds.begin(this.#segments, [this.#suggested]));
    else this.#change(seeds.extend(this.#segments, this.#segments[0].id, [this.#suggested], { isNot: true })); // the rest
  }

  #setMode(mode) {
    this.mode.value = mode;
    this.stage.mode = mode;
    replace(this.hint, this.#advice());
  }

  #move(id, x, y, stroke, isDragged = false) {
    this.#isDragging = isDragged;
    const owner = this.#segments.find(({ shapes }) => shapes.some((shape) => shape.id === id));
    if (!owner || seeds.isTaken(this.#segments, x, y)) return;
    this.#last = owner.id;
    this.#change(seeds.move(this.#segments, id, x, y), stroke);
  }

  /** After dragging, replace the coarse segments by full ones. */
  #letGo() {
    this.#isDragging = false;
    this.requests.ask();
  }

  #choose(id) {
    this.#chosen = id;
    this.#draw();
  }

  #changeSettings() {
    this.#note();
    this.requests.ask();
  }

  #drawLook(opacity) {
    this.stage.tint = opacity;
    this.#drawDownloads();
  }

  /** @param {import("./seeds.js").Segment[]} segments @param {symbol | string | null} [stroke] */
  #change(segments, stroke = null) {
    this.#become(() => this.#steps.change(segments, stroke));
  }

  #undo() {
    if (this.#steps.canUndo) this.#become(() => this.#steps.undo());
  }

  /** Take a step. Results stay with their segments until new ones arrive. */
  #become(step) {
    const known = new Map(this.#segments.map(({ id }, i) => [id, this.#results[i]]));
    const rest = this.#results.slice(this.#segments.length);
    step();
    this.#results = [...this.#segments.map(({ id }) => known.get(id)), ...(this.#segments.length === 1 ? rest : [])];
    if (!this.#segments.some(({ id }) => id === this.#chosen)) this.#chosen = null;
    this.#draw();
    this.#settle();
    this.requests.ask();
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
    return new URLSearchParams([["picture", this.#picture.picture], ...seeds.paramsOf(this.#segments), ...this.settings.params]);
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

  // Requests

  async #askOnce() {
    const [picture, segments] = [this.#picture, this.#segments];
    if (picture === null || segments.length === 0) {
      this.#clearResults();
      return;
    }
    const start = performance.now();
    const body = { ...seeds.requestOf(segments, this.settings), ...this.settings.value, every: everyOf(picture, this.#isDragging), outlines: true };
    try {
      const answer = await send("POST", this.#path, body);
      if (this.#picture === picture && !this.#isClosed) this.#showResults(answer, segments, performance.now() - start);
    } catch (error) {
      if (this.#picture === picture && !this.#isClosed) await this.#fail(error);
    }
  }

  get #path() {
    return `api/pictures/${encodeURIComponent(this.#shown.picture)}/segments`;
  }

  #showResults(answer, segments, milliseconds) {
    const byId = new Map(segments.map(({ id }, i) => [id, answer.segments[i]]));
    const rest = answer.segments.slice(segments.length);
    answer.segments.forEach(({ color: colour }, i) => (this.#colours[i] = colour));
    this.#results = [...this.#segments.map(({ id }) => byId.get(id)), ...(this.#segments.length === 1 ? rest : [])];
    this.#answer = answer;
    this.stage.outlines.draw(answer);
    this.trouble.hidden = true;
    replace(this.notes, answer.warnings.map(({ message }) => h("li", {}, message)));
    this.time.textContent = `${answer.segments.length} segments in ${(milliseconds / 1000).toFixed(2)} s`;
    this.#draw();
    this.#drawDownloads();
    this.#suggest();
    if (!this.requests.isOutdated) this.page.announce(answer.segments.map(({ name, share }) => `${name}: ${percent(share)}`).join(", "));
  }

  /** Show where a click would help, if there is any doubt about a segment. */
  #suggest() {
    const { suggested = null, every = 1, segments = [] } = this.#answer ?? {};
    const isDoubtful = segments.some(({ verdict_code: code }) => code === "partial" || code === "unsure");
    this.#suggested = suggested !== null && isDoubtful && !this.#isDragging ? this.stage.clamp(...suggested.map((place) => place * every + Math.floor(every / 2))) : null;
    this.stage.suggest(this.#suggested);
    this.doubt.draw(this.#suggested === null ? [] : segments.map(({ name }) => name));
  }

  #clearResults() {
    this.#results = [];
    this.#answer = null;
    this.stage.outlines.draw(null);
    this.trouble.hidden = true;
    replace(this.notes);
    this.time.textContent = "";
    this.#draw();
    this.#drawDownloads();
    this.#suggest();
  }

  /** Upload the image again if the server was restarted or dropped it; otherwise show the error. */
  async #fail(error) {
    const again = pictures.isGone(error) ? await pictures.uploadAgain(this.#shown.picture).catch(() => null) : null;
    if (again !== null) {
      this.#picture = again;
      this.page.note(this.#state);
      this.requests.ask();
      return;
    }
    this.#clearResults();
    replace(this.trouble, error.message);
    this.trouble.hidden = false;
  }

  // Drawing

  #draw() {
    this.stage.handles.draw(this.#segments, this.#colours);
    this.list.draw(this.#segments, this.#results, this.#chosen, this.#colours, (name) => this.#cutOutOf(name));
    this.undo.disabled = !this.#steps.canUndo;
    this.clear.disabled = this.#segments.length === 0;
    replace(this.hint, this.#advice());
  }

  #advice() {
    const chosen = this.#segments.find(({ id }) => id === this.#chosen);
    const isTouched = matchMedia("(pointer: coarse)").matches;
    if (chosen && this.stage.mode !== "not") {
      const done = h("button", { type: "button", class: "link", on: { click: () => this.#choose(null) } }, "Done");
      return [`Every click and stroke adds to ${seeds.nameOf(this.#segments, chosen)}. `, done];
    }
    if (this.#segments.length === 0 || this.stage.mode !== "point") return MODES[this.stage.mode][1];
    if (isTouched) return "Tap another part. To correct a segment, press Add to it and tap what it misses; Exclude takes a spot out.";
    return "Click another part. Shift-click adds to the last segment, Alt-click takes a spot out of the one that covers it; drag a seed to move it, right-click to remove it.";
  }

  #drawDownloads() {
    const { segmentation } = this.#answer ?? {};
    this.downloads.draw(segmentation ? { path: this.#path, segmentation, opacity: this.look.opacity, name: this.#fileName } : null);
  }

  #cutOutOf(segment) {
    const { segmentation } = this.#answer ?? {};
    return { href: url(`${this.#path}/cut-out.png`, { segmentation, segment }), download: `${this.#fileName}-${segment}.png` };
  }

  get #fileName() {
    return pictures.stemOf(this.#shown, this.page.settings.example_image);
  }
}
