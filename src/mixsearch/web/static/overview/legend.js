// The panel next to the map: how to read it, or facts about the topic under the pointer.

import { h } from "../shared/dom.js";
import { percent } from "../shared/numbers.js";
import { badgeOf, toneOf } from "../shared/verdicts.js";

const TONES = {
  good: "The word singles out a topic.",
  doubt: "Doubtful: the runner-up is close.",
  bad: "Hardly a topic of its own: the word fits others as well.",
};

export function howToRead(topics) {
  const tones = new Set(topics.map(toneOf));
  const shown = Object.entries(TONES).filter(([tone]) => tones.has(tone));
  return [
    h("h2", {}, "How to read the map"),
    h("p", {}, "Each circle is a topic. The bold word finds it; the words below it are typical of it."),
    h("ul", { class: "legend" }, shown.map(([tone, sentence]) => h("li", {}, h("span", { class: `swatch ${tone}` }), sentence))),
    h("p", {}, "The larger a circle, the more of the corpus is about its topic."),
    h("p", {}, "Near circles are alike, as far as a plane can show it. Point at one for the topics that it shares most with."),
  ];
}

export function aboutTopic(topics, place) {
  const topic = topics[place];
  const [first, ...others] = topic.words;
  return [
    h("h2", {}, first),
    h("p", {}, h("span", { class: `verdict ${toneOf(topic)}` }, badgeOf(topic))),
    h("p", {}, h("b", {}, percent(topic.weight)), " of the corpus"),
    h("dl", {}, fact("Typical words", topic.label.join(", ")), others.length > 0 ? fact("Also found by", others.join(", ")) : null),
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
