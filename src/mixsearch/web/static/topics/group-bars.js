// Shares of a topic in the groups of a column as bars with their 95% intervals.

import { h } from "../shared/dom.js";
import { percent } from "../shared/numbers.js";
import { describe, scaleOf } from "../shared/band-chart.js";
import { conditionOf } from "./filter-box.js";

const MAX_BARS = 12;

/** Create the bars; a click on a value of a category makes it the filter. */
export function groupBars({ column, kind, nMissing, groups }, act) {
  const shown = groups.slice(0, MAX_BARS);
  const top = scaleOf(shown);
  const part = (share) => `${(100 * Math.min(Math.max(share / top, 0), 1)).toFixed(2)}%`;
  const more = groups.length > MAX_BARS ? `${groups.length - MAX_BARS} more groups are in the file. ` : "";
  const missing = nMissing > 0 ? `${nMissing.toLocaleString("en")} documents have no value.` : "";
  return [
    h("ol", { class: "group-rows" }, shown.map((group) => row(group, part, nameOf(group, column, kind, act)))),
    more || missing ? h("p", { class: "small muted" }, more, missing) : null,
  ];
}

function row(group, part, name) {
  const { label, share, low, high } = group;
  const parts =
    share === null
      ? null
      : [
          h("i", { class: "fill", style: { width: part(share) } }),
          h("i", { class: "whisker", style: { left: part(low), width: `calc(${part(high)} - ${part(low)})` } }),
        ];
  return h(
    "li",
    { class: "group-row", "data-group": label, title: describe(group) },
    name,
    h("span", { class: "bar", "aria-hidden": "true" }, parts),
    h("span", { class: "number" }, share === null ? "–" : percent(Math.max(share, 0))),
  );
}

/** A value can be filtered by; ranges and the rest together cannot. */
function nameOf({ label }, column, kind, act) {
  if (kind !== "category" || label.startsWith("other")) return h("span", { class: "group-name" }, label);
  const click = () => act.filter(conditionOf(column, label));
  const props = { type: "button", class: "word-name group-name", title: `Only documents with ${column} ${label}` };
  return h("button", { ...props, "data-key": `group ${label}`, on: { click } }, label);
}
