// One topic of the overview: its name and its link.

import { isPlainClick } from "../shared/links.js";
import { percent } from "../shared/numbers.js";
import { withWord } from "../shared/query.js";
import { badgeOf } from "../shared/verdicts.js";

/** Return the search that finds it. */
export function queryOf({ words: [first] }) {
  return withWord("", first);
}

/** Describe its circle in one sentence. */
export function nameOf(topic) {
  const [first, ...others] = topic.words;
  const also = others.length > 0 ? `; also found by ${others.join(", ")}` : "";
  // What is written in the circle comes first: who speaks to the page says what they see.
  const label = topic.label.filter((word) => word !== first);
  return `${first}: ${label.join(", ")}${also}; ${percent(topic.weight)} of the corpus, ${badgeOf(topic)}`;
}

/** Open it within the page on a plain click; otherwise the browser follows the link. */
export function openTopic(event, page, topic) {
  if (!isPlainClick(event)) return;
  event.preventDefault();
  page.go("topics", { q: queryOf(topic) });
}
