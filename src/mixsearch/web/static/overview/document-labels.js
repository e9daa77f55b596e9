// The names of topics on the map of documents, where most of their points are; none over another.

const FONT = "650 13px system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif";
const HEIGHT = 18;
const MIN_PART = 0.002; // of all points: smaller topics have no name on the map

/**
 * Draw the names of the largest topics that have room.
 * @param {CanvasRenderingContext2D} context in pixels of the page
 * @param {{n: number, x: number, y: number}[]} middles
 * @param {any[]} topics
 * @param {import("../shared/plane-view.js").PlaneView} view
 * @param {{ink: string, card: string}} colors
 */
export function drawLabels(context, middles, topics, view, { ink, card }) {
  const total = middles.reduce((sum, { n }) => sum + n, 0);
  const bySize = middles.map((middle, i) => ({ ...middle, i })).filter(({ n }) => n > MIN_PART * total).sort((a, b) => b.n - a.n);
  /** @type {[number, number, number, number][]} */
  const taken = [];
  context.font = FONT;
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.lineJoin = "round";
  context.lineWidth = 4;
  context.strokeStyle = card;
  context.fillStyle = ink;
  for (const { x, y, i } of bySize) {
    const [word] = topics[i].words;
    const [across, down] = view.toPixels(x, y);
    const half = context.measureText(word).width / 2 + 4;
    /** @type {[number, number, number, number]} */
    const box = [across - half, down - HEIGHT / 2, across + half, down + HEIGHT / 2];
    if (taken.some((other) => areOver(box, other)) || box[0] < 0 || box[2] > view.width) continue;
    taken.push(box);
    context.strokeText(word, across, down);
    context.fillText(word, across, down);
  }
}

function areOver([left, top, right, bottom], [otherLeft, otherTop, otherRight, otherBottom]) {
  return left < otherRight && right > otherLeft && top < otherBottom && bottom > otherTop;
}
