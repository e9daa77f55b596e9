// The options of a segmentation, as the page shows them and as the address has them.

import { h } from "../shared/dom.js";
import { ASSIGN, Choice, FEATURES, Pieces } from "./tools.js";

const DEFAULTS = { features: "rich", assign: "auto", connected: false, fill_holes: false };

export class Settings {
  value = { ...DEFAULTS };

  /** Calls changed(). */
  constructor(changed) {
    const set = (some) => {
      Object.assign(this.value, some);
      changed();
    };
    this.features = new Choice("Compare pixels by", "features", FEATURES, (features) => set({ features }));
    this.assign = new Choice("How pixels are given to segments", "assign", ASSIGN, (assign) => set({ assign }));
    this.pieces = new Pieces(set);
    this.element = h("details", { class: "segment-settings" }, h("summary", {}, "Settings"), this.features.element, this.assign.element);
  }

  /** Whether further seeds change only what is near them: only with a graph. */
  get canCorrect() {
    return this.value.features === "rich" && this.value.assign === "auto";
  }

  /** @param {URLSearchParams} state */
  read(state) {
    this.value = {
      features: chosenOf(FEATURES, state.get("features")),
      assign: chosenOf(ASSIGN, state.get("assign")),
      connected: state.get("connected") === "true",
      fill_holes: state.get("fill_holes") === "true",
    };
    this.features.value = this.value.features;
    this.assign.value = this.value.assign;
    this.pieces.value = this.value;
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
