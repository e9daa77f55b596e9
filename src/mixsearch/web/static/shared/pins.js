// Topics pinned for comparison, each as its query string.

import { remember, rememberedList } from "./memory.js";

const listeners = new Set();

// Other tabs pin as well.
window.addEventListener("storage", () => {
  for (const listener of listeners) listener();
});

export function pinsOf(index) {
  return rememberedList("localStorage", nameOf(index)).filter((each) => typeof each === "string");
}

/** Pin these topics, without duplicates; if there are too many, only the last ones. */
export function setPins({ index, settings }, topics) {
  remember("localStorage", nameOf(index), [...new Set(topics)].slice(-settings.max_compared));
  for (const listener of listeners) listener();
}

export function isPinned(index, topic) {
  return pinsOf(index).includes(topic);
}

/** Pin or unpin a topic. */
export function togglePin(page, topic) {
  const pins = pinsOf(page.index);
  setPins(page, pins.includes(topic) ? pins.filter((each) => each !== topic) : [...pins, topic]);
}

/** Call a listener at every change; the returned function removes it. */
export function onPins(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function nameOf(index) {
  return `pins:${index.name}`;
}
