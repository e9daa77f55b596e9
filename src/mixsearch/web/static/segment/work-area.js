// A picture with its tools and segments: draws what it is given, and reports what the user does.

import { url } from "../shared/api.js";
import { h, replace } from "../shared/dom.js";
import { SegmentList } from "./list.js";
import { imagePicker } from "./pictures.js";
import { nameOf } from "./seeds.js";
import { Stage } from "./stage.js";
import { Choice, Downloads, Look, MODES, Settings } from "./tools.js";

/** @typedef {import("./seeds.js").Segment} Segment */

export class WorkArea {
  /** @type {any} What is drawn. */
  #drawn = { segments: [], chosen: null, results: { list: [], answer: null, colours: [] }, files: null };

  /** Calls the functions of act: those of the stage and of the list, and undo, clear, choose, upload, changeSettings. */
  constructor(settings, act) {
    this.act = act;
    this.stage = new Stage({ ...act, hover: (index) => this.stage.outlines.highlight(index) });
    this.list = new SegmentList(settings, { ...act, hover: (id) => this.stage.outlines.highlight(this.#drawn.segments.findIndex((each) => each.id === id)) });
    this.mode = new Choice("On the picture", "mode", MODES, (value) => this.#setMode(value), { isPlain: true });
    this.settings = new Settings(() => act.changeSettings());
    this.look = new Look((opacity) => this.#setTint(opacity));
    this.downloads = new Downloads();
    this.hint = h("p", { class: "segment-hint muted" });
    this.trouble = h("p", { class: "segment-trouble", role: "alert", hidden: true });
    this.notes = h("ul", { class: "segment-notes small" });
    this.time = h("p", { class: "segment-time small muted" });
    this.title = h("p", { class: "segment-title small muted" });
    this.undo = h("button", { type: "button", class: "button plain", title: "Ctrl-Z", on: { click: () => act.undo() } }, "Undo");
    this.clear = h("button", { type: "button", class: "button plain", on: { click: () => act.clear() } }, "Clear");
    const another = imagePicker("Another picture", settings.image_formats, (file) => act.upload(file), "button plain");
    this.element = h(
      "div",
      { class: "segment-work" },
      h(
        "div",
        { class: "segment-main" },
        h("div", { class: "toolbar segment-tools" }, this.mode.element, this.undo, this.clear, another, this.title),
        h("div", { class: "segment-message" }, this.trouble, this.hint),
        h("div", { class: "segment-room" }, this.stage.zoom.box),
        h("div", { class: "segment-under" }, this.stage.zoom.controls, this.look.element, this.time),
      ),
      h("aside", { class: "segment-side card", "aria-label": "Segments and settings" }, this.list.element, this.settings.element, this.notes, this.downloads.element),
    );
    this.#setTint(this.look.opacity);
    this.#setMode("point");
  }

  /** Show a picture without segments. */
  showPicture(picture, title) {
    this.stage.show(picture, `api/pictures/${encodeURIComponent(picture.picture)}.png`);
    this.title.textContent = title;
  }

  showBusy(isBusy, isSlow) {
    this.stage.element.setAttribute("aria-busy", isBusy);
    this.stage.element.classList.toggle("is-slow", isSlow);
  }

  /**
   * Draw the segments and what is known of them; files has the path and the stem of the names of their files.
   * @param {{segments: Segment[], chosen: number | null, canUndo: boolean, results: import("./requests.js").Results, files: {path: string, stem: string} | null}} state
   */
  draw(state) {
    this.#drawn = state;
    const { segments, chosen, canUndo, results } = state;
    this.stage.handles.draw(segments, results.colours);
    this.list.draw(segments, results.list, chosen, results.colours, (name) => this.#cutOutOf(name));
    this.undo.disabled = !canUndo;
    this.clear.disabled = segments.length === 0;
    this.#advise();
  }

  /** Draw an answer of the server, and how long it took; null for none. */
  drawAnswer(answer, milliseconds = 0) {
    this.stage.outlines.draw(answer);
    this.trouble.hidden = true;
    replace(this.notes, (answer?.warnings ?? []).map(({ message }) => h("li", {}, message)));
    this.time.textContent = answer ? `${answer.segments.length} segments in ${(milliseconds / 1000).toFixed(2)} s` : "";
    this.#drawDownloads();
  }

  showTrouble(message) {
    replace(this.trouble, message);
    this.trouble.hidden = false;
  }

  #setMode(mode) {
    this.mode.value = mode;
    this.stage.mode = mode;
    this.#advise();
  }

  #setTint(opacity) {
    this.stage.tint = opacity;
    this.#drawDownloads();
  }

  #advise() {
    const { segments, chosen } = this.#drawn;
    replace(this.hint, adviceOf(segments, { mode: this.stage.mode, chosen, done: () => this.act.choose(null) }));
  }

  #drawDownloads() {
    const { files, results } = this.#drawn;
    const { segmentation } = results.answer ?? {};
    this.downloads.draw(segmentation ? { path: files.path, segmentation, opacity: this.look.opacity, name: files.stem } : null);
  }

  #cutOutOf(segment) {
    const { files, results } = this.#drawn;
    const { segmentation } = results.answer ?? {};
    return { href: url(`${files.path}/cut-out.png`, { segmentation, segment }), download: `${files.stem}-${segment}.png` };
  }
}

/**
 * Return what to do next; done() ends adding to the chosen segment.
 * @param {import("./seeds.js").Segment[]} segments
 * @param {{mode: string, chosen: number | null, done: () => void}} state
 */
function adviceOf(segments, { mode, chosen, done }) {
  const segment = segments.find(({ id }) => id === chosen);
  if (segment && mode !== "not") {
    const button = h("button", { type: "button", class: "link", on: { click: done } }, "Done");
    return [`Every click and stroke adds to ${nameOf(segments, segment)}. `, button];
  }
  if (segments.length === 0 || mode !== "point") return MODES[mode][1];
  if (matchMedia("(pointer: coarse)").matches) {
    return "Tap another part. To correct a segment, press Add to it and tap what it misses; Exclude takes a spot out.";
  }
  return "Click another part. Shift-click adds to the last segment, Alt-click takes a spot out of the one that covers it; drag a seed to move it, right-click to remove it.";
}
