// The seeds: a list of segments with their shapes. Every change returns a new list, so that it can be undone.

/** A pixel, a stroke of a brush, or a pixel that is not of the segment. A later one has a larger id. */
/** @typedef {{id: number, points: number[][], isNot: boolean}} Shape */
/** @typedef {{id: number, name: string, shapes: Shape[]}} Segment */

let lastId = 0;

/** @param {number[][]} points @returns {Shape} */
function shapeOf(points, isNot = false) {
  return { id: ++lastId, points, isNot };
}

/** Add a segment with one shape. @param {Segment[]} segments @param {number[][]} points @returns {Segment[]} */
export function begin(segments, points) {
  return [...segments, { id: ++lastId, name: "", shapes: [shapeOf(points)] }];
}

/** Add a shape to a segment, or to what it is not. */
export function extend(segments, id, points, { isNot = false } = {}) {
  return segments.map((each) => (each.id === id ? { ...each, shapes: [...each.shapes, shapeOf(points, isNot)] } : each));
}

/** Move a pixel. */
export function move(segments, shapeId, x, y) {
  const moved = (shape) => (shape.id === shapeId ? { ...shape, points: [[x, y]] } : shape);
  return segments.map((each) => ({ ...each, shapes: each.shapes.map(moved) }));
}

export function rename(segments, id, name) {
  return segments.map((each) => (each.id === id ? { ...each, name } : each));
}

/** Remove a shape, and its segment if nothing is known of it any more. */
export function removeShape(segments, shapeId) {
  return segments
    .map((each) => ({ ...each, shapes: each.shapes.filter(({ id }) => id !== shapeId) }))
    .filter(({ shapes }) => shapes.some(({ isNot }) => !isNot));
}

export function removeSegment(segments, id) {
  return segments.filter((each) => each.id !== id);
}

/** Return the name of a segment, as the server has it. @param {Segment[]} segments @param {Segment} segment */
export function nameOf(segments, segment) {
  return segment.name.trim() || `segment ${segments.indexOf(segment) + 1}`;
}

/** Return whether a segment has this pixel. @param {Segment[]} segments @param {number} x @param {number} y */
export function isTaken(segments, x, y) {
  return segments.some(({ shapes }) => shapes.some(({ points }) => points.some(([ownX, ownY]) => ownX === x && ownY === y)));
}

/** Return the first free column of a row from x on, with wrap-around; x itself if all are taken. */
export function freeColumn(segments, x, y, width) {
  const columns = Array.from({ length: width }, (_, i) => (x + i) % width);
  return columns.find((column) => !isTaken(segments, column, y)) ?? x;
}

/** Write a shape as the server and the address have it: "120,80" or "120,80~140,90". @param {Shape} shape */
function written({ points }) {
  return points.map((point) => point.join(",")).join("~");
}

/** Return what is sent to the server. @param {Segment[]} segments */
export function requestOf(segments) {
  const join = (wanted) =>
    segments.flatMap((segment) => {
      const shapes = segment.shapes.filter(({ isNot }) => isNot === wanted);
      return shapes.length > 0 ? [`${nameOf(segments, segment)}:${shapes.map(written).join("+")}`] : [];
    });
  return { seeds: join(false), not_seeds: join(true) };
}

/**
 * Return the parameters of an address: the first shape of each segment after its name, then the others in their order,
 * each after the number of its segment.
 * @param {Segment[]} segments
 */
export function paramsOf(segments) {
  const starts = segments.map(({ shapes }) => shapes.find(({ isNot }) => !isNot) ?? shapes[0]);
  const first = segments.map(({ name }, i) => ["seed", (name.trim() ? `${name.trim()}:` : "") + written(starts[i])]);
  const others = segments
    .flatMap(({ shapes }, i) => shapes.filter((shape) => shape !== starts[i]).map((shape) => ({ shape, number: i + 1 })))
    .sort((one, other) => one.shape.id - other.shape.id);
  return [...first, ...others.map(({ shape, number }) => [shape.isNot ? "not" : "more", `${number}:${written(shape)}`])];
}

/** Read segments from an address; what is invalid is ignored. @param {URLSearchParams} state @returns {Segment[]} */
export function read(state) {
  let segments = state.getAll("seed").map(readSegment).filter(({ shapes }) => shapes.length > 0);
  for (const [kind, text] of state) {
    if (kind !== "more" && kind !== "not") continue;
    const [number, typed = ""] = text.split(":");
    const [points] = readShapes(typed);
    const segment = segments[Number(number) - 1];
    if (segment && points) segments = extend(segments, segment.id, points, { isNot: kind === "not" });
  }
  return segments;
}

/** @param {string} text @returns {Segment} */
function readSegment(text) {
  const end = Math.max(text.lastIndexOf(":"), text.lastIndexOf("="));
  const name = text.slice(0, Math.max(end, 0)).trim();
  return { id: ++lastId, name, shapes: readShapes(text.slice(end + 1)).map((points) => shapeOf(points)) };
}

/** @param {string} typed @returns {number[][][]} */
function readShapes(typed) {
  const shapes = typed.split(/[+ ]/).map((shape) => [...shape.matchAll(/(\d{1,9}),(\d{1,9})/g)]);
  return shapes.filter((points) => points.length > 0).map((points) => points.map(([, x, y]) => [Number(x), Number(y)]));
}
