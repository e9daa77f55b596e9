// One topic of the overview: what it is called, and how it is opened.

import { isPlainClick } from "../shared/links.js";
import { percent } from "../shared/numbers.js";
import { withWord } from "../shared/query.js";
import { badgeOf } from "../shared/verdicts.js";

/** The search that finds it. */
export function queryOf({ words: [first] }) {
  return withWord("", first);
}

/** All that its circle shows, in one sentence. */
export function nameOf(topic) {
  const [first, ...others] = topic.words;
  const also = others.length > 0 ? ` (also ${others.join(", ")})` : "";
  return `${first}${also}: ${topic.label.join(", ")}; ${percent(topic.weight)} of the corpus, ${badgeOf(topic)}`;
}

/** Follow its link within the page; with another button or key, the browser does. */
export function openTopic(event, page, topic) {
  if (!isPlainClick(event)) return;
  event.preventDefault();
  page.go("topics", { q: queryOf(topic) });
}
