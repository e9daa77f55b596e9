// The segmentation view: an image, its seeds and segments.

import { send } from "../shared/api.js";
import { h, replace } from "../shared/dom.js";
import { percent } from "../shared/numbers.js";
import { Editor } from "./editor.js";
import { invitation, listen } from "./pictures.js";
import * as pictures from "./pictures.js";
import { everyOf, Requests, Results } from "./requests.js";
import * as seeds from "./seeds.js";
import { WorkArea } from "./work-area.js";

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
  #editor = new Editor((before) => this.#follow(before));
  #results = new Results();
  #turn = 0; // number of addresses opened
  #isDragging = false;
  #isClosed = false;
  /** @type {number | undefined} */
  #timer;

  constructor(root, page) {
    this.page = page;
    this.root = root;
    this.work = new WorkArea(page.settings, this.#acts());
    this.requests = new Requests(() => this.#askOnce(), (isBusy, isSlow) => this.work.showBusy(isBusy, isSlow));
    this.stopListening = listen({
      upload: (file) => this.#upload(file),
      refused: (error) => page.showError(error),
      hovering: (is) => root.classList.toggle("is-hovered", is),
    });
    document.addEventListener("keydown", this.#shortcut);
    this.invitation = invitation(page.settings.image_formats, { upload: (file) => this.#upload(file), example: () => page.go("segment", { picture: page.settings.example_image }) });
    this.waiting = h("p", { class: "card segment-waiting", hidden: true });
    replace(root, h("h1", { class: "visually-hidden" }, "Segment a picture"), this.waiting, this.invitation, this.work.element);
    this.#showPicture();
  }

  #acts() {
    const editor = this.#editor;
    return {
      add: (x, y, how) => this.#add(x, y, how),
      brush: (points, { toSame }) => editor.add(points, toSame),
      exclude: (x, y, index) => editor.exclude(x, y, index),
      drag: (id, x, y, stroke) => this.#move(id, x, y, stroke, true),
      letGo: () => this.#letGo(),
      nudge: (id, x, y) => this.#move(id, x, y, `keys ${id}`, false),
      remove: (id) => editor.remove(id),
      removeSegment: (id) => editor.removeSegment(id),
      rename: (id, name) => editor.rename(id, name),
      choose: (id) => this.#choose(editor.chosen === id ? null : id),
      undo: () => editor.undo(),
      clear: () => editor.clear(),
      upload: (file) => this.#upload(file),
      changeSettings: () => this.#changeSettings(),
    };
  }

  /** Show the state of an address. */
  async open(state) {
    this.work.settings.read(state);
    const wanted = state.get("picture");
    const mine = ++this.#turn;
    if (wanted !== null && wanted !== this.#picture?.picture && !(await this.#load(wanted, mine))) return;
    if (mine !== this.#turn || this.#isClosed) return;
    if (wanted === null) this.#picture = null;
    this.#editor.start(wanted === null ? [] : seeds.read(state));
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
    return this.#editor.segments;
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
      this.#editor.start([]);
      this.#showPicture();
      this.page.note({});
      this.page.showError(error);
      return false;
    }
  }

  /** Upload an image and show it. */
  async #upload(file) {
    replace(this.waiting, `Reading ${file.name || "the picture"} …`);
    this.waiting.hidden = false;
    try {
      const image = await pictures.sendPicture(file, this.page.settings);
      if (this.#isClosed) return;
      this.#picture = image;
    } catch (error) {
      this.page.showError(error);
      return;
    } finally {
      this.waiting.hidden = true;
    }
    this.#editor.start([]);
    this.page.go("segment", this.#state);
  }

  #showPicture() {
    const has = this.#picture !== null;
    this.invitation.hidden = has;
    this.work.element.hidden = !has;
    this.#results.clear();
    if (has) this.work.showPicture(this.#shown, pictures.titleOf(this.#shown, this.page.settings.example_image));
  }

  // User actions

  #add(x, y, how) {
    const segment = this.#editor.addPixel(x, y, this.#shown.width, how);
    if (segment && how.byKey) this.work.stage.handles.focus(segment.shapes.at(-1).id);
  }

  #move(id, x, y, stroke, isDragged) {
    this.#isDragging = isDragged;
    this.#editor.move(id, x, y, stroke);
  }

  /** After dragging, replace the coarse segments by full ones. */
  #letGo() {
    this.#isDragging = false;
    this.requests.ask();
  }

  #choose(id) {
    this.#editor.choose(id);
    this.#draw();
  }

  #changeSettings() {
    this.#note();
    this.requests.ask();
  }

  /** Follow a step. Results stay with their segments until new ones arrive. @param {import("./seeds.js").Segment[]} before */
  #follow(before) {
    this.#results.follow(before, this.#segments);
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
    return new URLSearchParams([["picture", this.#picture.picture], ...seeds.paramsOf(this.#segments), ...this.work.settings.params]);
  }

  #shortcut = (event) => {
    const isUndo = (event.ctrlKey || event.metaKey) && !event.shiftKey && event.key.toLowerCase() === "z";
    if (isUndo && event.target.type !== "text") {
      event.preventDefault();
      this.#editor.undo();
    } else if (event.key === "Escape" && this.#editor.chosen !== null) {
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
    const body = { ...seeds.requestOf(segments), ...this.work.settings.value, every: everyOf(picture, this.#isDragging), outlines: true };
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
    this.#results.take(answer, segments, this.#segments);
    this.#draw();
    this.work.drawAnswer(answer, milliseconds);
    if (!this.requests.isOutdated) this.page.announce(answer.segments.map(({ name, share }) => `${name}: ${percent(share)}`).join(", "));
  }

  #clearResults() {
    this.#results.clear();
    this.#draw();
    this.work.drawAnswer(null);
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
    this.work.showTrouble(error.message);
  }

  #draw() {
    const files = this.#picture && { path: this.#path, stem: pictures.stemOf(this.#picture, this.page.settings.example_image) };
    const { segments, chosen, canUndo } = this.#editor;
    this.work.draw({ segments, chosen, canUndo, results: this.#results, files });
  }
}
