// Topics that are kept for comparison: each as the query string that finds it again.

import { remember, rememberedList } from "./memory.js";

const listeners = new Set();

export function pinsOf(index) {
  return rememberedList("sessionStorage", nameOf(index)).filter((each) => typeof each === "string");
}

/** Keep these topics, each once; the last ones where there are too many to compare. */
export function setPins({ index, settings }, topics) {
  remember("sessionStorage", nameOf(index), [...new Set(topics)].slice(-settings.max_compared));
  for (const listener of listeners) listener();
}

export function isPinned(index, topic) {
  return pinsOf(index).includes(topic);
}

/** Pin a topic, or take it away again. */
export function togglePin(page, topic) {
  const pins = pinsOf(page.index);
  setPins(page, pins.includes(topic) ? pins.filter((each) => each !== topic) : [...pins, topic]);
}

/** Hear of every change; the function that comes back ends it. */
export function onPins(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function nameOf(index) {
  return `pins:${index.name}`;
}
