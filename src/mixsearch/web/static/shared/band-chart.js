// Shares over time as a line with bands: the 95% interval, and the error that matters between periods.

import { h, replace, svg } from "./dom.js";
import { percent } from "./numbers.js";

const HEIGHT = 190;
const EDGE = { left: 44, right: 14, top: 10, bottom: 26 };
const LETTER = 7.2; // width of a letter of the labels
const NORMAL_95 = 1.96;
const N_TICKS = 4;
const DOT = 3; // radius
// Groups with fewer documents, in parts of the mean, have intervals too wide to set the scale.
const MIN_PART = 0.1;

export class BandChart {
  /**
   * @param {any[]} groups
   * @param {string} description
   */
  constructor(groups, description) {
    this.groups = groups;
    this.description = description;
    this.top = scaleOf(groups);
    this.element = h("div", { class: "band-chart" });
    this.observer = new ResizeObserver(([{ contentRect }]) => this.#draw(contentRect.width));
    this.observer.observe(this.element);
  }

  #draw(width) {
    if (width === 0) return;
    const inner = width - EDGE.left - EDGE.right;
    const tall = HEIGHT - EDGE.top - EDGE.bottom;
    const x = (i) => EDGE.left + (inner * (i + 0.5)) / this.groups.length;
    const y = (share) => EDGE.top + tall * (1 - Math.max(share / this.top, 0));
    const room = { x: EDGE.left, y: EDGE.top - DOT, width: inner, height: tall + 2 * DOT };
    replace(
      this.element,
      svg(
        "svg",
        { role: "img", "aria-label": this.description, width, height: HEIGHT, viewBox: `0 0 ${width} ${HEIGHT}` },
        this.#grid(width, y),
        this.#labels(inner, x),
        // The line leaves the room where it leaves the scale.
        svg("svg", { ...room, viewBox: Object.values(room).join(" "), class: "series-0" }, runsOf(this.groups).map((run) => this.#line(run, x, y))),
      ),
    );
  }

  #grid(width, y) {
    const ticks = Array.from({ length: N_TICKS + 1 }, (_, i) => (this.top * i) / N_TICKS);
    return ticks.map((tick) => [
      svg("line", { class: "grid", x1: EDGE.left, x2: width - EDGE.right, y1: y(tick), y2: y(tick) }),
      svg("text", { class: "tick end", x: EDGE.left - 8, y: y(tick) + 4 }, percent(tick)),
    ]);
  }

  #labels(inner, x) {
    const longest = Math.max(...this.groups.map(({ label }) => label.length));
    const step = Math.max(Math.ceil((this.groups.length * (longest * LETTER + 12)) / inner), 1);
    return this.groups
      .map(({ label }, i) => svg("text", { class: "tick middle", x: x(i), y: HEIGHT - 8 }, label))
      .filter((_, i) => i % step === 0);
  }

  #line(run, x, y) {
    const { groups } = this;
    const outer = run.map((i) => [groups[i].low, groups[i].high]);
    const inner = run.map((i) => {
      const { share, stderr } = groups[i];
      return [share - NORMAL_95 * (stderr ?? 0), share + NORMAL_95 * (stderr ?? 0)];
    });
    const band = (ends, kind) => {
      const upper = run.map((i, j) => `${x(i)},${y(ends[j][1])}`);
      const lower = run.map((i, j) => `${x(i)},${y(ends[j][0])}`).reverse();
      return svg("polygon", { class: kind, points: [...upper, ...lower].join(" ") });
    };
    const points = run.map((i) => `${x(i)},${y(groups[i].share)}`).join(" ");
    const dot = (i) => {
      const title = svg("title", {}, describe(groups[i]));
      if (groups[i].share <= this.top) return svg("circle", { class: "dot", cx: x(i), cy: y(groups[i].share), r: DOT }, title);
      return svg("path", { class: "dot above", d: `M${x(i)} ${y(this.top) - DOT}l4 7h-8z` }, title); // an arrow: it is above the scale
    };
    return [band(outer, "band"), band(inner, "band inner"), svg("polyline", { class: "stroke", points }), run.map(dot)];
  }
}

/** Describe the share of a group with its interval. */
export function describe({ label, share, low, high, n_documents: n }) {
  if (share === null) return `${label}: no documents`;
  return `${label}: ${percent(Math.max(share, 0))} (${percent(Math.max(low, 0))} to ${percent(high)}), ${n.toLocaleString("en")} documents`;
}

/** Return the upper end of the scale: a round share above all intervals of groups that are not tiny. */
export function scaleOf(groups) {
  const known = groups.filter(({ share }) => share !== null);
  const mean = known.reduce((sum, { n_documents: n }) => sum + n, 0) / Math.max(known.length, 1);
  const large = known.filter(({ n_documents: n }) => n >= MIN_PART * mean);
  const top = Math.max(...large.map(({ high }) => high), 1e-6);
  const unit = 10 ** Math.floor(Math.log10(top));
  return Math.min([1, 1.2, 1.6, 2, 2.4, 3.2, 4, 6, 8, 10].map((each) => each * unit).find((each) => each >= top) ?? top, 1);
}

/** Return the indices of groups with documents, split where groups without any are. */
function runsOf(groups) {
  /** @type {number[][]} */
  const runs = [[]];
  groups.forEach(({ share }, i) => {
    if (share === null) runs.push([]);
    else runs[runs.length - 1].push(i);
  });
  return runs.filter((run) => run.length > 0);
}
