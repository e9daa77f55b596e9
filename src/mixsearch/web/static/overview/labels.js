// Label placement: inside a circle, next to it, or farther away with a line; never over another circle or label if that can be.

const FIRST = { size: 13, weight: 650, line: 15, isFirst: true };
const MORE = { size: 11, weight: 400, line: 13, isFirst: false };
const SMALLEST = 11;
const LARGE_RADIUS = 50; // pixels of radius; larger circles have larger letters
const LARGEST_SCALE = 1.5;
const AROUND = 4; // free pixels around a text
const MAX_LINES = 3;
const DISTANCES = [0, 14, 30]; // pixels from a circle to its label
const BASELINE = 0.78; // of a line's height

const context = /** @type {CanvasRenderingContext2D} */ (document.createElement("canvas").getContext("2d"));

/**
 * Labels for circles {x, y, r, first, more}, in pixels: the first word, and others if there is room.
 *
 * Each is {x, anchor, lines: [{text, y, size, isFirst}], leader}; the leader is a line from the circle, if one is needed.
 */
export function placeLabels(circles, { width, height, font }) {
  const scene = { circles, width, height, font, taken: new Map() };
  const labels = circles.map((circle) => placeInside(circle, scene));
  const isOutside = labels.map((label) => label === null);
  // First one word for each circle, then more words if there is space.
  for (const n of [0, 1, 2]) {
    circles.forEach((circle, place) => {
      if (isOutside[place]) labels[place] = placeNextTo(circle, n, scene) ?? labels[place];
    });
  }
  return labels.map((label, place) => label ?? placeAcross(circles[place], scene));
}

function widthOf({ text, size, weight }, { font }) {
  context.font = `${weight} ${size}px ${font}`;
  return context.measureText(text).width;
}

function heightOf(lines) {
  return lines.reduce((sum, { line }) => sum + line, 0);
}

/** Fit the first word and as many more as possible into the circle, one per line. */
function placeInside({ x, y, r, first, more }, scene) {
  const scale = Math.min(Math.max(r / LARGE_RADIUS, 1), LARGEST_SCALE);
  for (let n = Math.min(more.length, MAX_LINES); n >= 0; n -= 1) {
    for (let { size } = FIRST; size >= SMALLEST; size -= 1) {
      const lines = [{ ...FIRST, size, text: first }, ...more.slice(0, n).map((text) => ({ ...MORE, text }))].map((each) => ({ ...each, size: scale * each.size, line: scale * each.line }));
      if (areWithin(r, lines, scene)) return written(x, y - heightOf(lines) / 2, "middle", lines);
    }
  }
  return null;
}

function areWithin(r, lines, scene) {
  let top = -heightOf(lines) / 2;
  return lines.every((each) => {
    const farthest = Math.max(Math.abs(top + 2), Math.abs(top + each.line - 2));
    top += each.line;
    return farthest < r && widthOf(each, scene) <= 2 * Math.sqrt(r * r - farthest * farthest) - AROUND;
  });
}

/** Put the first word and n more into the first free spot around a circle. */
function placeNextTo(circle, n, scene) {
  const lines = [{ ...FIRST, text: circle.first, size: 12 }];
  if (n > 0 && circle.more.length > 0) lines.push({ ...MORE, text: circle.more.slice(0, n).join(", ") });
  const width = Math.max(...lines.map((each) => widthOf(each, scene)));
  const spots = (n === 0 ? DISTANCES : DISTANCES.slice(0, 1)).flatMap((away) => spotsAround(circle, width, heightOf(lines), away));
  const spot = spots.find((each) => isFree(each, circle, scene));
  if (!spot) return null;
  scene.taken.set(circle, spot);
  const x = { start: spot.left, middle: spot.left + width / 2, end: spot.left + width }[spot.anchor];
  return { ...written(x, spot.top, spot.anchor, lines), leader: leaderTo(circle, spot) };
}

/** Put the first word across a circle that has no free spot around it; of a phrase, each word on its own line. */
function placeAcross({ x, y, first }, scene) {
  const lines = first.split(" ").map((text) => ({ ...FIRST, size: SMALLEST, line: SMALLEST + 1, text }));
  const half = Math.max(...lines.map((each) => widthOf(each, scene))) / 2;
  const inside = Math.min(Math.max(x, half + AROUND), scene.width - half - AROUND);
  return written(inside, y - heightOf(lines) / 2, "middle", lines);
}

/** Return a line from the rim of a circle to the nearest point of a label; null if the label touches it. */
function leaderTo({ x, y, r }, { left, top, width, height }) {
  const [toX, toY] = [Math.min(Math.max(x, left), left + width), Math.min(Math.max(y, top), top + height)];
  const length = Math.hypot(toX - x, toY - y);
  if (length < r + AROUND + 2) return null;
  return { x1: x + (r * (toX - x)) / length, y1: y + (r * (toY - y)) / length, x2: toX, y2: toY };
}

/** List spots, the best first: right of the circle, ..., across it if the text is not much wider. */
function spotsAround({ x, y, r }, width, height, away) {
  const gap = r + AROUND + away;
  const slant = 0.75 * (r + away) + 2;
  const at = (left, top, anchor) => ({ left, top, width, height, anchor });
  const across = away === 0 && width < 3 * r ? [at(x - width / 2, y - height / 2, "middle")] : [];
  return [
    at(x + gap, y - height / 2, "start"),
    at(x - gap - width, y - height / 2, "end"),
    at(x - width / 2, y + gap, "middle"),
    at(x - width / 2, y - gap - height, "middle"),
    at(x + slant, y + slant, "start"),
    at(x + slant, y - slant - height, "start"),
    at(x - slant - width, y + slant, "end"),
    at(x - slant - width, y - slant - height, "end"),
    ...across,
  ];
}

function isFree(spot, own, { circles, taken, width, height }) {
  const isAcross = spot.left >= AROUND && spot.left + spot.width <= width - AROUND;
  const isDown = spot.top >= AROUND && spot.top + spot.height <= height - AROUND;
  const isOverOther = (circle) => circle !== own && (isOver(spot, circle) || (taken.has(circle) && areOver(spot, taken.get(circle))));
  return isAcross && isDown && !circles.some(isOverOther);
}

function areOver(one, other) {
  const across = Math.min(one.left + one.width, other.left + other.width) - Math.max(one.left, other.left);
  const down = Math.min(one.top + one.height, other.top + other.height) - Math.max(one.top, other.top);
  return across > -AROUND && down > 0;
}

function isOver({ left, top, width, height }, { x, y, r }) {
  const dx = x - Math.min(Math.max(x, left), left + width);
  const dy = y - Math.min(Math.max(y, top), top + height);
  return Math.hypot(dx, dy) < r + 2;
}

function written(x, top, anchor, lines) {
  let below = top;
  const placed = lines.map((each) => {
    below += each.line;
    return { ...each, y: below - (1 - BASELINE) * each.line };
  });
  return { x, anchor, lines: placed };
}
