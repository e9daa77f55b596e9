// The keyboard on a plot: a cursor that goes from point to point.

const DIRECTIONS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const SIDEWAYS = 2; // how much more a step aside costs than one ahead

export class Cursor {
  /** @type {number | null} The point that it is on. */
  index = null;

  /**
   * @param {HTMLElement} element
   * @param {import("../shared/plane-view.js").PlaneView} view
   * @param {{placed: () => number[][], moved: (i: number | null) => void, chosen: (i: number, isNot: boolean) => void}} act placed()
   *   returns the pixels of all points
   */
  constructor(element, view, act) {
    this.view = view;
    this.act = act;
    element.addEventListener("keydown", (event) => this.#key(event));
    element.addEventListener("blur", () => this.#move(null));
  }

  reset() {
    this.index = null;
  }

  #key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const points = this.act.placed();
    const isChoice = (event.key === "Enter" || event.key === " ") && this.index !== null;
    const next = this.#next(event.key, points);
    if (isChoice) this.act.chosen(/** @type {number} */ (this.index), event.shiftKey);
    else if (next !== null) this.#move(next);
    else if (!this.view.press(event.key, ...(points[this.index ?? -1] ?? []))) return;
    event.preventDefault();
  }

  #move(index) {
    if (index === this.index) return;
    this.index = index;
    if (index !== null) this.view.reveal(...this.act.placed()[index]);
    this.act.moved(index);
  }

  /** Return the point that a key leads to: null if the key is for something else. */
  #next(key, points) {
    const isStep = key in DIRECTIONS || ["PageUp", "PageDown", "Home", "End"].includes(key);
    const known = [...points.keys()].filter((i) => points[i].every(Number.isFinite));
    if (!isStep || known.length === 0) return null;
    if (this.index === null && key in DIRECTIONS) return nearest(points, known, this.view);
    if (key in DIRECTIONS) return ahead(points, known, this.index, DIRECTIONS[key]);
    const order = known.sort((a, b) => points[a][0] - points[b][0] || points[a][1] - points[b][1] || a - b);
    const place = this.index === null ? -1 : order.indexOf(this.index);
    const to = { PageUp: place - 1, PageDown: place + 1, Home: 0, End: order.length - 1 }[key] ?? 0;
    return order[Math.min(Math.max(to, 0), order.length - 1)];
  }
}

/** Return the point nearest to the middle of the view. */
function nearest(points, known, { margin, width, height }) {
  const [x, y] = [margin.left + width / 2, margin.top + height / 2];
  const distance = (i) => Math.hypot(points[i][0] - x, points[i][1] - y);
  return known.reduce((best, i) => (distance(i) < distance(best) ? i : best));
}

/** Return the next point in a direction, within 45 degrees of it; the same if there is none. */
function ahead(points, known, from, [right, down]) {
  let [best, least] = [from, Infinity];
  for (const i of known) {
    const [dx, dy] = [points[i][0] - points[from][0], points[i][1] - points[from][1]];
    const [along, aside] = [dx * right + dy * down, Math.abs(dx * down) + Math.abs(dy * right)];
    const cost = along + SIDEWAYS * aside;
    if (i !== from && along > 0 && aside <= along && cost < least) [best, least] = [i, cost];
  }
  return best;
}
