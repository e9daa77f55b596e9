// Everything that the search could mean: all readings as one bar that adds up to 100%.

import { h } from "../shared/dom.js";
import { wholePercents } from "../shared/numbers.js";
import { mainWords, titleOf } from "../shared/topic-title.js";

const WORDS_SHOWN = 6;

export function alternativesSection(answer, act) {
  const { alternatives, is_doubtful: isDoubtful, alternative } = answer;
  if (alternatives.length === 0) return null;
  const readings = readingsOf(answer);
  const rest = Math.max(1 - readings.reduce((sum, { share }) => sum + share, 0), 0);
  const percents = wholePercents([...readings.map(({ share }) => share), rest]);
  const doubt = isDoubtful && alternative === 0 ? " is-doubtful" : "";
  const about = "How much of your search each topic explains";
  return h(
    "section",
    { class: `alternatives${doubt}`, "aria-labelledby": "alternatives-title" },
    h("h2", { id: "alternatives-title" }, isDoubtful ? "It could also mean" : "Meanings"),
    h("p", { class: "small muted" }, `${about}.`),
    h("div", { class: "stacked", "aria-hidden": "true" }, readings.map((each, i) => part(each, i, percents[i])), part({ title: "other topics", share: rest }, "rest", percents.at(-1))),
    h("ul", {}, readings.map((each, i) => h("li", {}, reading(each, i, percents[i], act)))),
    percents.at(-1) > 0 ? h("p", { class: "rest small muted" }, h("i", { class: "series-key series-rest" }), `other topics: ${percents.at(-1)}%`) : null,
  );
}

/** Return the topic that is shown and the others, the largest share first. */
function readingsOf({ alternative, words, share_of_hint: share, alternatives }) {
  const shown = { rank: alternative, words: words.slice(0, WORDS_SHOWN).map(({ word }) => word), share, isShown: true };
  const others = alternatives.map((each) => ({ rank: each.rank, words: each.words, share: each.share_of_hint, isShown: false }));
  return [shown, ...others].map((each) => ({ ...each, title: titleOf(each.words) })).sort((a, b) => b.share - a.share);
}

function part({ title, share }, i, percent) {
  return h("i", { class: `series-${i}`, title: `${title}: ${percent}%`, style: { width: `${(100 * share).toFixed(2)}%` } });
}

/** Create the entry of a reading: a button, unless it is the one that is shown. */
function reading({ rank, words, isShown }, i, percent, act) {
  const content = [
    h("i", { class: `series-key series-${i}`, "aria-hidden": "true" }),
    h("span", { class: "alternative-words" }, mainWords(words).join(", "), isShown ? h("span", { class: "visually-hidden" }, " (shown)") : null),
    h("span", { class: "alternative-share number" }, percent > 0 ? `${percent}%` : "under 1%", h("span", { class: "visually-hidden" }, " of your search")),
  ];
  if (isShown) return h("div", { class: "alternative is-shown", "aria-current": "true" }, content);
  const props = { type: "button", class: "alternative", "data-rank": rank, "data-key": `alternative ${rank}` };
  return h("button", { ...props, on: { click: () => act.read(rank) } }, content);
}
