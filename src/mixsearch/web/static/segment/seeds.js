// The seeds: a list of segments with their pixels. Every change returns a new list, so that it can be undone.

/** @typedef {{id: number, x: number, y: number}} Pixel */
/** @typedef {{id: number, name: string, pixels: Pixel[]}} Segment */

let lastId = 0;

function pixelAt(x, y) {
  return { id: ++lastId, x, y };
}

/** Add a segment with one pixel. */
export function begin(segments, x, y) {
  return [...segments, { id: ++lastId, name: "", pixels: [pixelAt(x, y)] }];
}

/** Add a pixel to a segment. */
export function extend(segments, id, x, y) {
  return segments.map((each) => (each.id === id ? { ...each, pixels: [...each.pixels, pixelAt(x, y)] } : each));
}

export function move(segments, pixelId, x, y) {
  const moved = (pixel) => (pixel.id === pixelId ? { ...pixel, x, y } : pixel);
  return segments.map((each) => ({ ...each, pixels: each.pixels.map(moved) }));
}

export function rename(segments, id, name) {
  return segments.map((each) => (each.id === id ? { ...each, name } : each));
}

/** Remove a pixel, and its segment if it was the only one. */
export function removePixel(segments, pixelId) {
  return segments
    .map((each) => ({ ...each, pixels: each.pixels.filter((pixel) => pixel.id !== pixelId) }))
    .filter((each) => each.pixels.length > 0);
}

export function removeSegment(segments, id) {
  return segments.filter((each) => each.id !== id);
}

/** Return the name of a segment, as the server has it. */
export function nameOf(segments, segment) {
  return segment.name.trim() || `segment ${segments.indexOf(segment) + 1}`;
}

/** Return whether a segment has this pixel. */
export function isTaken(segments, x, y) {
  return segments.some(({ pixels }) => pixels.some((pixel) => pixel.x === x && pixel.y === y));
}

/** Return the first free column of a row from x on, with wrap-around; x itself if all are taken. */
export function freeColumn(segments, x, y, width) {
  const columns = Array.from({ length: width }, (_, i) => (x + i) % width);
  return columns.find((column) => !isTaken(segments, column, y)) ?? x;
}

/** Write segments for the server and the address: "sky:120,80+130,90". */
export function written(segments) {
  return segments.map(({ name, pixels }) => {
    const places = pixels.map(({ x, y }) => `${x},${y}`).join("+");
    return name.trim() ? `${name.trim()}:${places}` : places;
  });
}

/** Read segments from an address; invalid seeds are ignored. */
export function read(texts) {
  return texts.map(readOne).filter(({ pixels }) => pixels.length > 0);
}

function readOne(text) {
  const end = Math.max(text.lastIndexOf(":"), text.lastIndexOf("="));
  const places = text.slice(end + 1).matchAll(/(\d{1,9}),(\d{1,9})/g);
  return {
    id: ++lastId,
    name: text.slice(0, Math.max(end, 0)).trim(),
    pixels: [...places].map(([, x, y]) => pixelAt(Number(x), Number(y))),
  };
}
