// Topics that are kept for comparison: each as the query string that finds it again.

import { remember, rememberedList } from "./memory.js";

export const MOST_PINS = 8;

const listeners = new Set();

export function pinsOf(index) {
  return rememberedList("sessionStorage", nameOf(index)).filter((each) => typeof each === "string");
}

/** Keep these topics, each once; the last ones where there are too many. */
export function setPins(index, topics) {
  remember("sessionStorage", nameOf(index), [...new Set(topics)].slice(-MOST_PINS));
  for (const listener of listeners) listener();
}

export function isPinned(index, topic) {
  return pinsOf(index).includes(topic);
}

/** Pin a topic, or take it away again. */
export function togglePin(index, topic) {
  const pins = pinsOf(index);
  setPins(index, pins.includes(topic) ? pins.filter((each) => each !== topic) : [...pins, topic]);
}

/** Hear of every change; the function that comes back ends it. */
export function onPins(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function nameOf(index) {
  return `pins:${index.name}`;
}
