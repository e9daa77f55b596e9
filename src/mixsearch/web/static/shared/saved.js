// Topics that the user has saved under a name, with notes: kept in the browser, exported and imported as JSON.

import { remember, rememberedList } from "./memory.js";

/**
 * @typedef {object} SavedTopic
 * @property {string} search its query string
 * @property {string} name
 * @property {string} note
 * @property {string} words
 * @property {string} saved when, in ISO 8601
 */

const KIND = "mixsearch saved topics";
const VERSION = 1;
const MAX_TOPICS = 500;
const MAX_LENGTH = 4000; // characters of a text that is imported
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

/** Return the saved topics of an index as the text of a file. */
export function exportSaved(index) {
  return JSON.stringify({ kind: KIND, version: VERSION, index: index.name, topics: savedOf(index) }, null, 2);
}

/** Add the topics of such a file, and return how many are new. Topics that are saved already stay as they are. */
export function importSaved(index, text) {
  const topics = readFile(text);
  const saved = savedOf(index);
  const fresh = topics.filter(({ search }, i) => !saved.some((each) => each.search === search) && topics.findIndex((each) => each.search === search) === i);
  if (saved.length + fresh.length > MAX_TOPICS) throw new Error(`At most ${MAX_TOPICS} topics can be saved. Remove some first.`);
  keep(index, [...saved, ...fresh]);
  return fresh.length;
}

/** Call a listener at every change; the returned function removes it. */
export function onSaved(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** @returns {SavedTopic[]} */
function readFile(text) {
  /** @type {any} */
  let file = null;
  try {
    file = JSON.parse(text);
  } catch {
    // It is reported like any other file.
  }
  if (file?.kind !== KIND || !Array.isArray(file.topics)) throw new Error("This is not a file of saved topics. Choose one that this page exported.");
  return file.topics.filter(isTopic).map((topic) => /** @type {any} */ (Object.fromEntries(TEXTS.map((name) => [name, topic[name].slice(0, MAX_LENGTH)]))));
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
