// Other topics that the hint could mean.

import { h } from "../shared/dom.js";
import { roughly } from "../shared/numbers.js";

export function alternativesSection({ alternatives, is_doubtful: isDoubtful, alternative }, act) {
  if (alternatives.length === 0) return null;
  const doubt = isDoubtful && alternative === 0 ? " is-doubtful" : "";
  const title = isDoubtful ? "It could also mean" : "Less likely meanings";
  return h(
    "section",
    { class: `alternatives${doubt}`, "aria-labelledby": "alternatives-title" },
    h("h2", { id: "alternatives-title" }, title),
    h("ul", {}, alternatives.map((each) => h("li", {}, card(each, act)))),
  );
}

function card({ rank, words, share_of_hint: share }, act) {
  const width = `${(100 * Math.min(share, 1)).toFixed(1)}%`;
  const click = () => act.read(rank);
  return h(
    "button",
    { type: "button", class: "alternative", "data-rank": rank, "data-key": `alternative ${rank}`, on: { click } },
    h("span", { class: "alternative-words" }, words.join(", ")),
    h(
      "span",
      { class: "alternative-share small" },
      h("span", { class: "bar", "aria-hidden": "true" }, h("i", { style: { width } })),
      h("span", { class: "number" }, `explains ${roughly(share)} of your search${rank === 0 ? ", the first meaning" : ""}`),
    ),
  );
}
