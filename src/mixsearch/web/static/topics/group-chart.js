// The shares of groups, drawn: over time as a line, of other columns as bars.

import { BandChart, describe } from "../shared/band-chart.js";
import { percent } from "../shared/numbers.js";
import { groupBars } from "./group-bars.js";

/** Create the chart of an answer. @param {"over" | "by"} kind */
export function drawGroups(kind, { column, kind: columnKind, n_missing: nMissing, topics: [{ groups }] }, act) {
  if (kind === "by") return groupBars({ column, kind: columnKind, nMissing, groups }, act);
  return new BandChart(groups, summaryOf(column, groups)).element;
}

/** Say what the chart shows. */
function summaryOf(column, groups) {
  const known = groups.filter(({ share }) => share !== null);
  if (known.length === 0) return `No document has a ${column}.`;
  const highest = known.reduce((a, b) => (b.share > a.share ? b : a));
  const ends = [known[0], known[known.length - 1]].map(describe).join("; ");
  return `Share of the topic by ${column}. ${ends}. Highest in ${highest.label}, ${percent(highest.share)}.`;
}
