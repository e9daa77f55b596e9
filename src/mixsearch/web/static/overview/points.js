// The points of a map of documents: read from bytes, found by their places, and drawn pixel by pixel.

import { isInside } from "../shared/plane-view.js";

export const NO_TOPIC = 255;
const LARGEST = 65535;
const N_CELLS = 128; // of the grid along each side

export class Points {
  /** @param {ArrayBuffer} bytes as the server encodes them */
  constructor(bytes) {
    const n = new DataView(bytes).getUint32(0, true);
    this.n = n;
    this.rows = new Uint32Array(bytes, 4, n);
    const [x, y] = [new Uint16Array(bytes, 4 + 4 * n, n), new Uint16Array(bytes, 4 + 6 * n, n)];
    this.x = Float32Array.from(x, (each) => each / LARGEST);
    this.y = Float32Array.from(y, (each) => each / LARGEST);
    this.topics = new Uint8Array(bytes, 4 + 8 * n, n);
    // Documents without a topic are drawn first, below the others.
    const isBelow = (i) => this.topics[i] === NO_TOPIC;
    const all = Array.from({ length: n }, (_, i) => i);
    this.order = Uint32Array.from([...all.filter(isBelow), ...all.filter((i) => !isBelow(i))]);
    const cells = Uint32Array.from({ length: n }, (_, i) => cellOf(this.y[i]) * N_CELLS + cellOf(this.x[i]));
    this.starts = startsOf(cells);
    this.byCell = sortedBy(cells, this.starts);
  }

  /** Return the point nearest to a place within a distance, or -1. */
  nearest(x, y, within) {
    let [best, distance] = [-1, within * within];
    this.#visit(x - within, y - within, x + within, y + within, (i) => {
      const square = (this.x[i] - x) ** 2 + (this.y[i] - y) ** 2;
      if (square <= distance) [best, distance] = [i, square];
    });
    return best;
  }

  /** Return the points within a polygon of places. @param {number[][]} polygon */
  within(polygon) {
    const [xs, ys] = [polygon.map(([x]) => x), polygon.map(([, y]) => y)];
    /** @type {number[]} */
    const found = [];
    this.#visit(Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys), (i) => {
      if (isInside(this.x[i], this.y[i], polygon)) found.push(i);
    });
    return found;
  }

  /** Return the middle of the points of each topic, with their number. */
  middles(nTopics) {
    /** @type {{xs: number[], ys: number[]}[]} */
    const lists = Array.from({ length: nTopics }, () => ({ xs: [], ys: [] }));
    for (let i = 0; i < this.n; i += 1) {
      const list = lists[this.topics[i]];
      if (list) {
        list.xs.push(this.x[i]);
        list.ys.push(this.y[i]);
      }
    }
    return lists.map(({ xs, ys }) => ({ n: xs.length, x: median(xs), y: median(ys) }));
  }

  /**
   * Draw the points into an image.
   * @param {ImageData} image
   * @param {{across: number, down: number, left: number, top: number}} view pixels of one unit, and of the origin
   * @param {number} radius in pixels
   * @param {Uint32Array} colors of the topics, as 0xAABBGGRR
   */
  draw(image, { across, down, left, top }, radius, colors) {
    const { width, height } = image;
    const { order, x, y, topics } = this;
    const pixels = new Uint32Array(image.data.buffer);
    const disc = discOffsets(radius, width);
    const r = Math.ceil(radius);
    // The loop that all smoothness hangs on: no calls and no objects for each point.
    for (let place = 0; place < order.length; place += 1) {
      const i = order[place];
      const column = Math.round(left + across * x[i]);
      const row = Math.round(top + down * y[i]);
      if (column < r || row < r || column >= width - r || row >= height - r) continue;
      const middle = row * width + column;
      const color = colors[topics[i]];
      for (let k = 0; k < disc.length; k += 1) pixels[middle + disc[k]] = color;
    }
  }

  /** Call a function with the points of all cells that a rectangle touches. */
  #visit(left, top, right, bottom, call) {
    for (let row = cellOf(top); row <= cellOf(bottom); row += 1) {
      const start = this.starts[row * N_CELLS + cellOf(left)];
      const end = this.starts[row * N_CELLS + cellOf(right) + 1];
      for (let place = start; place < end; place += 1) call(this.byCell[place]);
    }
  }
}

/** Return where the points of each cell start, if they are sorted by cells. */
function startsOf(cells) {
  const starts = new Uint32Array(N_CELLS * N_CELLS + 1);
  for (const cell of cells) starts[cell + 1] += 1;
  for (let cell = 0; cell < N_CELLS * N_CELLS; cell += 1) starts[cell + 1] += starts[cell];
  return starts;
}

function sortedBy(cells, starts) {
  const next = starts.slice();
  const sorted = new Uint32Array(cells.length);
  cells.forEach((cell, i) => {
    sorted[next[cell]] = i;
    next[cell] += 1;
  });
  return sorted;
}

function cellOf(value) {
  return Math.min(Math.max(Math.floor(value * N_CELLS), 0), N_CELLS - 1);
}

function median(values) {
  const sorted = Float32Array.from(values).sort();
  return sorted.length > 0 ? sorted[Math.floor(sorted.length / 2)] : NaN;
}

/** Return the pixels of a disc, as offsets from the one in its middle. */
function discOffsets(radius, width) {
  const r = Math.floor(radius);
  const offsets = [];
  for (let dy = -r; dy <= r; dy += 1) {
    const half = Math.floor(Math.sqrt(Math.max(radius * radius - dy * dy, 0)));
    for (let dx = -half; dx <= half; dx += 1) offsets.push(dy * width + dx);
  }
  return Int32Array.from(offsets);
}
