// Options of the segmentation: features, assignment, opacity, downloads.

import { url } from "../shared/api.js";
import { h, replace } from "../shared/dom.js";

export const FEATURES = {
  rich: ["Rich features", "Colour, texture and place: best for photographs."],
  rgb: ["Plain colours", "As in the paper: quick, for up to three segments."],
};
export const ASSIGN = {
  auto: ["Best way", "Seeds spread along the picture and to what looks alike, and keep their labels."],
  nearest: ["Nearest", "A pixel goes to the segment that it resembles most."],
  posterior: ["Likeliest", "Large and varied segments get more of the pixels in doubt."],
};

/** A group of radio buttons. Calls chosen(value). */
export class Choice {
  constructor(title, name, options, chosen) {
    this.options = options;
    this.explanation = h("p", { class: "small muted" });
    this.inputs = Object.entries(options).map(([value]) =>
      h("input", { type: "radio", name, value, on: { change: () => this.#choose(value, chosen) } }),
    );
    const labels = this.inputs.map((input) => h("label", {}, input, h("span", {}, options[input.value][0])));
    this.element = h("fieldset", { class: "segment-choice" }, h("legend", {}, title), h("div", { class: "segment-options" }, labels), this.explanation);
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

/** The opacity of the segments. Calls changed(opacity). */
export class Look {
  #isShown = true;

  constructor(changed) {
    this.slider = h("input", {
      type: "range",
      min: 0,
      max: 1,
      step: 0.05,
      value: 0.5,
      "aria-label": "Opacity of the segments",
      on: { input: () => this.#change(true, changed) },
    });
    this.toggle = h(
      "button",
      { type: "button", class: "button plain", "aria-pressed": "true", on: { click: () => this.#change(!this.#isShown, changed) } },
      "Show",
    );
    this.element = h("div", { class: "segment-look" }, h("span", {}, "Segments"), this.slider, this.toggle);
  }

  /** The opacity for downloads. */
  get opacity() {
    return Number(this.slider.value);
  }

  #change(isShown, changed) {
    this.#isShown = isShown;
    this.toggle.setAttribute("aria-pressed", isShown);
    changed(isShown ? this.opacity : 0);
  }
}

/** Links to the files of a segmentation, given the path and parameters of its JSON and the name of the image. */
export class Downloads {
  constructor() {
    this.links = h("div", { class: "toolbar" });
    this.element = h("section", { class: "segment-downloads", "aria-label": "Download" }, h("h2", {}, "Download"), this.links);
    this.element.hidden = true;
  }

  draw(asked) {
    this.element.hidden = asked === null;
    if (asked === null) return;
    const { path, params, opacity, name } = asked;
    const link = (label, title, address, file) => h("a", { class: "button plain", href: address, download: `${name}-${file}`, title }, label);
    replace(
      this.links,
      link("Overlay", "The picture with its segments tinted, PNG", url(`${path}/overlay.png`, { ...params, opacity: String(opacity) }), "overlay.png"),
      link("Labels", "The number of each pixel's segment, indexed PNG", url(`${path}/labels.png`, params), "labels.png"),
      link("Masks", "A black and white PNG for each segment, ZIP", url(`${path}/masks.zip`, params), "masks.zip"),
      link("JSON", "Seeds, sizes and separations", url(path, params), "segments.json"),
    );
  }
}
