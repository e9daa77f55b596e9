// Options of the segmentation: modes, settings, tint, downloads.

import { url } from "../shared/api.js";
import { h, replace } from "../shared/dom.js";

const DEFAULT_OPACITY = 0.5; // of an overlay, if the page shows no tint

const METHODS = {
  graph: ["Best way", "Seeds spread along the picture and to what looks alike, and keep their labels."],
  paper: ["Plain colours", "As in the paper: each seed finds its component of a mixture of colours. For up to three segments."],
};
/** What a click or a drag on the picture does. */
export const MODES = {
  point: ["Point", "Click a spot of a part that you want to find, such as the sky."],
  brush: ["Brush", "Draw along a part that you want to find. Hold Shift to add to the last segment."],
  not: ["Exclude", "Click a spot that does not belong to the segment that covers it. Alt-click does the same."],
  move: ["Move", "Drag the picture when it is zoomed in."],
};
const DEFAULTS = { method: "graph" };

/** A group of radio buttons, with a title and an explanation unless it is plain. Calls chosen(value). */
export class Choice {
  constructor(title, name, options, chosen, { isPlain = false } = {}) {
    this.options = options;
    this.explanation = h("p", { class: "small muted", hidden: isPlain });
    this.inputs = Object.entries(options).map(([value]) =>
      h("input", { type: "radio", name, value, on: { change: () => this.#choose(value, chosen) } }),
    );
    const labels = this.inputs.map((input) => h("label", {}, input, h("span", {}, options[input.value][0])));
    this.element = h("fieldset", { class: "segment-choice" }, h("legend", { class: isPlain ? "visually-hidden" : null }, title), h("div", { class: "segment-options" }, labels), this.explanation);
  }

  set value(value) {
    for (const input of this.inputs) input.checked = input.value === value;
    this.explanation.textContent = this.options[value][1];
  }

  #choose(value, chosen) {
    this.value = value;
    chosen(value);
  }
}

/** The tint of the segments. Calls changed(opacity). */
export class Look {
  constructor(changed) {
    this.slider = h("input", { type: "range", min: 0, max: 1, step: 0.05, value: 0, on: { input: () => changed(this.opacity) } });
    this.element = h("label", { class: "segment-look" }, h("span", {}, "Tint"), this.slider);
  }

  get opacity() {
    return Number(this.slider.value);
  }
}

/** Links to the files of a segmentation, given their path, the name of the segmentation and that of the image. */
export class Downloads {
  constructor() {
    this.links = h("div", { class: "toolbar" });
    this.element = h("section", { class: "segment-downloads", "aria-label": "Download" }, h("h2", {}, "Download"), this.links);
    this.element.hidden = true;
  }

  draw(found) {
    this.element.hidden = found === null;
    if (found === null) return;
    const { path, segmentation, opacity, name } = found;
    const link = (label, title, file, params = {}) =>
      h("a", { class: "button plain", href: url(`${path}/${file}`, { segmentation, ...params }), download: `${name}-${file}`, title }, label);
    replace(
      this.links,
      link("Cut-outs", "Each segment as a transparent PNG with a soft edge, ZIP", "cut-outs.zip"),
      link("Masks", "A black and white PNG for each segment, ZIP", "masks.zip"),
      link("Labels", "The number of each pixel's segment, indexed PNG", "labels.png"),
      link("Overlay", "The picture with its segments tinted, PNG", "overlay.png", { opacity: String(opacity || DEFAULT_OPACITY) }),
    );
  }
}

/** How pixels are compared and given to segments, as the address has it. */
export class Settings {
  value = { ...DEFAULTS };

  /** Calls changed(). */
  constructor(changed) {
    this.method = new Choice("How segments are found", "method", METHODS, (method) => {
      this.value.method = method;
      changed();
    });
    this.element = h("details", { class: "segment-settings" }, h("summary", {}, "Settings"), this.method.element);
  }

  /** @param {URLSearchParams} state */
  read(state) {
    this.value = { method: chosenOf(METHODS, state.get("method")) };
    this.method.value = this.value.method;
  }

  /** The parameters of an address. */
  get params() {
    return Object.entries(this.value)
      .filter(([name, value]) => value !== DEFAULTS[name])
      .map(([name, value]) => [name, String(value)]);
  }
}

/** @param {Record<string, string[]>} allowed @param {string | null} wanted */
function chosenOf(allowed, wanted) {
  return wanted !== null && Object.hasOwn(allowed, wanted) ? wanted : Object.keys(allowed)[0];
}
