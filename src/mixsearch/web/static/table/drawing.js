// What a plot shows: the plane of the rows, and the ellipse, line or residuals of the answer in it.

import { ellipseOf } from "./ellipse.js";

const SIDE = 1.96;

/**
 * Return the drawing of a state: points, and what was found if there is an answer.
 * @returns {import("./plot.js").Drawing}
 */
export function drawingOf(info, state, { points, frame, found }) {
  const plane = found && state.task === "subspace" ? residualPlane(found)
    : found && state.task === "line" ? linePlane(points, found)
    : columnPlane(info, state, points);
  return {
    ...plane,
    rows: points.rows,
    membership: found?.membership ?? null,
    like: state.like,
    notLike: state.notLike,
    paths: pathsOf(state, plane, frame, found),
  };
}

/** @typedef {Pick<import("./plot.js").Drawing, "x" | "y" | "names" | "areDates">} Plane */

/** @returns {Plane} */
function columnPlane(info, { x, y }, points) {
  const isDate = (name) => info.columns.some((column) => column.name === name && column.kind === "date");
  return { x: points.x, y: points.y, names: [x || "First direction", y || "Second direction"], areDates: [isDate(x), isDate(y)] };
}

/** @returns {Plane} */
function linePlane(points, { along, x, y }) {
  return { x: along, y: points.y, names: [x.length === 1 ? x[0] : `Predicted ${y}`, y], areDates: [false, false] };
}

/** @returns {Plane} */
function residualPlane({ along, residual }) {
  return { x: along, y: residual, names: ["Along the first direction", "Distance from the subspace"], areDates: [false, false] };
}

/** @returns {import("./plot.js").Drawing["paths"]} */
function pathsOf(state, { x, y }, frame, found) {
  if (!found) return [];
  if (state.task === "line") return linePaths(found);
  if (state.task === "subspace") return [];
  const others = otherIndices(frame, found).map((k) => ({ points: ellipseOf(x, y, (i) => Number(frame.group[i] === k)), kind: "other", title: "Another group" }));
  const own = { points: ellipseOf(x, y, (i) => (found.is_member[i] ? found.membership[i] : 0)), kind: "found", title: "The rows like the examples: 95% of a Gaussian of their shape" };
  return [...others, own].flatMap(({ points, ...rest }) => (points === null ? [] : [{ points, ...rest }]));
}

/** Return the components of the mixture that are not the one most members are in. */
export function otherIndices(frame, found) {
  if (!frame) return [];
  const weights = frame.groups.map(() => 0);
  frame.group.forEach((k, i) => (weights[k] += found.is_member[i] ? found.membership[i] : 0));
  const all = weights.reduce((a, b) => a + b, 0);
  return [...weights.keys()].filter((k) => weights[k] < 0.2 * all && frame.groups[k].typical_rows.length > 0);
}

function linePaths({ curve, others, noise }) {
  const { along, line, stderr } = curve;
  const at = (offset) => along.map((x, i) => [x, line[i] + offset(i)]);
  const band = (width, kind, title) => ({ points: [...at((i) => width(i)), ...at((i) => -width(i)).reverse()], kind, title });
  const drawn = others.filter((other) => other.line !== null).map((other) => ({ points: along.map((x, i) => [x, other.line[i]]), kind: "other", title: "Another line" }));
  return [
    ...drawn,
    band(() => SIDE * noise, "noise", "95% of its rows"),
    band((i) => SIDE * (stderr[i] ?? 0), "band", "95% interval of the line"),
    { points: at(() => 0), kind: "found line", title: "The line of the examples" },
  ];
}
