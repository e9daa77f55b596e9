// Topics that the user has saved under a name, with notes: kept in the browser.

import { remember, rememberedList } from "./memory.js";

/**
 * @typedef {object} SavedTopic
 * @property {string} search its query string
 * @property {string} name
 * @property {string} note
 * @property {string} words
 * @property {string} saved when, in ISO 8601
 */

const MAX_TOPICS = 500;
const TEXTS = ["search", "name", "note", "words", "saved"];
const listeners = new Set();

// Other tabs save as well.
window.addEventListener("storage", tellAll);

/** @returns {SavedTopic[]} */
export function savedOf(index) {
  return rememberedList("localStorage", nameOf(index)).filter(isTopic);
}

/** Save a topic, or change what was saved of it. The newest come first. */
export function saveTopic(index, topic) {
  const saved = savedOf(index);
  const known = saved.find(({ search }) => search === topic.search);
  const changed = { note: "", saved: new Date().toISOString(), ...known, ...topic };
  keep(index, known ? saved.map((each) => (each === known ? changed : each)) : [changed, ...saved]);
}

export function removeSaved(index, search) {
  keep(index, savedOf(index).filter((each) => each.search !== search));
}

/** Call a listener at every change; the returned function removes it. */
export function onSaved(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function isTopic(topic) {
  return TEXTS.every((name) => typeof topic?.[name] === "string");
}

function keep(index, topics) {
  remember("localStorage", nameOf(index), topics.slice(0, MAX_TOPICS));
  tellAll();
}

function tellAll() {
  for (const listener of listeners) listener();
}

function nameOf(index) {
  return `saved:${index.name}`;
}
