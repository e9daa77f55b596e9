// The sentence above the picture: what a click does now.

import { h } from "../shared/dom.js";
import { nameOf } from "./seeds.js";
import { MODES } from "./tools.js";

/**
 * Return what to do next; done() ends adding to the chosen segment.
 * @param {import("./seeds.js").Segment[]} segments
 * @param {{mode: string, chosen: number | null, done: () => void}} state
 */
export function adviceOf(segments, { mode, chosen, done }) {
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
