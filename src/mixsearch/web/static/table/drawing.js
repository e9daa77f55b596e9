// What a plot shows: the plane of the rows, and the ellipses of the answer in it.

import { ellipseOf } from "./ellipse.js";

/**
 * Return the drawing of a state: points, and what was found if there is an answer.
 * @returns {import("./plot.js").Drawing}
 */
export function drawingOf(info, state, { points, frame, found }) {
  const { x, y } = state;
  const isDate = (name) => info.columns.some((column) => column.name === name && column.kind === "date");
  return {
    x: points.x,
    y: points.y,
    names: [x || "First direction", y || "Second direction"],
    areDates: [isDate(x), isDate(y)],
    rows: points.rows,
    membership: found?.membership ?? null,
    like: state.like,
    notLike: state.notLike,
    paths: pathsOf(points, frame, found),
  };
}

/** @returns {import("./plot.js").Drawing["paths"]} */
function pathsOf({ x, y }, frame, found) {
  if (!found) return [];
  const others = otherIndices(frame, found).map((k) => ({ points: ellipseOf(x, y, (i) => Number(frame.group[i] === k)), kind: "other", title: "Another group" }));
  const own = { points: ellipseOf(x, y, (i) => (found.is_member[i] ? found.membership[i] : 0)), kind: "found", title: "The rows like the examples: 95% of a Gaussian of their shape" };
  return [...others, own].flatMap(({ points, ...rest }) => (points === null ? [] : [{ points, ...rest }]));
}

/** Return the components of the mixture that are not the one most members are in. */
export function otherIndices(frame, found) {
  const weights = frame.groups.map(() => 0);
  frame.group.forEach((k, i) => (weights[k] += found.is_member[i] ? found.membership[i] : 0));
  const all = weights.reduce((a, b) => a + b, 0);
  return [...weights.keys()].filter((k) => weights[k] < 0.2 * all && frame.groups[k].typical_rows.length > 0);
}
