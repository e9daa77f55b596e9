// The panel next to the map: how to read it, or facts about the topic under the pointer.

import { h } from "../shared/dom.js";
import { percent } from "../shared/numbers.js";
import { withWord } from "../shared/query.js";
import { badgeOf, toneOf } from "../shared/wording.js";

export function howToRead(topics) {
  const isDoubtful = topics.some((topic) => toneOf(topic) !== "good");
  return [
    h("h2", {}, "How to read the map"),
    h("p", {}, "Each circle is a topic. The bold word finds it; the words below it are distinctive of it."),
    h("ul", { class: "legend" }, legendLine("", "One color: topics with much in common."), isDoubtful ? legendLine("doubt", "Dashed: the word alone does not name a topic.") : null),
    h("p", {}, "The larger a circle, the more of the corpus is about its topic."),
    h("p", {}, "Near circles are alike, as far as a plane can show it. Point at one for the topics that it shares most with."),
  ];
}

function legendLine(tone, sentence) {
  return h("li", {}, h("span", { class: `swatch series-0 ${tone}` }), sentence);
}

/** Create the list of topics beside the map of documents; pointing at one sets it off. */
export function documentLegend(topics, { page, pointed }) {
  const entry = (topic, place) =>
    h(
      "li",
      { class: `series-${topic.group}`, on: { pointerenter: () => pointed(place), pointerleave: () => pointed(null) } },
      h("i", { class: "series-key", "aria-hidden": "true" }),
      h("a", { href: page.addressOf("topics", { q: searchOf(topic) }), title: topic.label.join(", "), on: { click: (event) => page.follow(event, "topics", { q: searchOf(topic) }), focus: () => pointed(place), blur: () => pointed(null) } }, topic.words[0]),
      h("span", { class: "number small muted" }, percent(topic.weight)),
    );
  return h(
    "div",
    { class: "reading" },
    h("h2", {}, "Documents by topic"),
    h("p", { class: "small" }, "Each point is a document, near others about the same. Its color is that of the topic it is most about; gray ones are about none of these."),
    h("p", { class: "small" }, "Click documents, or circle them with the lasso, to find more like them. Drag to move; to zoom, use the buttons, or click the map and turn the wheel."),
    h("ul", { class: "document-topics" }, topics.map(entry)),
  );
}

export function aboutTopic(topics, place) {
  const topic = topics[place];
  const [first, ...others] = topic.words;
  return [
    h("h2", {}, first),
    h("p", {}, h("span", { class: `verdict ${toneOf(topic)}` }, badgeOf(topic))),
    h("p", {}, h("b", {}, percent(topic.weight)), " of the corpus"),
    h("dl", {}, fact("Distinctive words", topic.label.join(", ")), others.length > 0 ? fact("Also found by", others.join(", ")) : null),
    h("h3", {}, topic.near.length > 0 ? "Shares most with" : "Like no other topic here"),
    h("ul", { class: "near" }, topic.near.map(({ topic: other, overlap }) => nearest(topics[other], overlap))),
  ];
}

function fact(name, value) {
  return [h("dt", { class: "small muted" }, name), h("dd", {}, value)];
}

function nearest({ words: [first] }, overlap) {
  return h("li", {}, h("span", {}, first), h("span", { class: "bar" }, h("span", { style: { width: `${100 * overlap}%` } })), h("span", { class: "number" }, percent(overlap)));
}

/** Return the search that finds it. */
export function searchOf({ words: [first] }) {
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
