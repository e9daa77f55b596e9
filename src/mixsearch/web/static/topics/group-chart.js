// The shares of groups, drawn: over time as a line with bands, of other columns as bars.

import { h, replace, svg } from "../shared/dom.js";
import { percent } from "../shared/numbers.js";
import { conditionOf } from "./filter-box.js";

const MAX_BARS = 12;
const HEIGHT = 190;
const EDGE = { left: 44, right: 14, top: 10, bottom: 26 };
const LETTER = 7.2; // width of a letter of the labels
const NORMAL_95 = 1.96;
const N_TICKS = 4;
const DOT = 3; // radius
// Groups with fewer documents, in parts of the mean, have intervals too wide to set the scale.
const MIN_PART = 0.1;

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

/** Create the bars; a click on a value of a category makes it the filter. */
function groupBars({ column, kind, nMissing, groups }, act) {
  const shown = groups.slice(0, MAX_BARS);
  const top = scaleOf(shown);
  const part = (share) => `${(100 * Math.min(Math.max(share / top, 0), 1)).toFixed(2)}%`;
  const more = groups.length > MAX_BARS ? `${groups.length - MAX_BARS} more groups are in the file. ` : "";
  const missing = nMissing > 0 ? `${nMissing.toLocaleString("en")} documents have no value.` : "";
  return [
    h("ol", { class: "group-rows" }, shown.map((group) => row(group, part, nameOf(group, column, kind, act)))),
    more || missing ? h("p", { class: "small muted" }, more, missing) : null,
  ];
}

function row(group, part, name) {
  const { label, share, low, high } = group;
  const parts =
    share === null
      ? null
      : [
          h("i", { class: "fill", style: { width: part(share) } }),
          h("i", { class: "whisker", style: { left: part(low), width: `calc(${part(high)} - ${part(low)})` } }),
        ];
  return h(
    "li",
    { class: "group-row", "data-group": label, title: describe(group) },
    name,
    h("span", { class: "bar", "aria-hidden": "true" }, parts),
    h("span", { class: "number" }, share === null ? "–" : percent(Math.max(share, 0))),
  );
}

/** A value can be filtered by; ranges and the rest together cannot. */
function nameOf({ label }, column, kind, act) {
  if (kind !== "category" || label.startsWith("other")) return h("span", { class: "group-name" }, label);
  const click = () => act.filter(conditionOf(column, label));
  const props = { type: "button", class: "word-name group-name", title: `Only documents with ${column} ${label}` };
  return h("button", { ...props, "data-key": `group ${label}`, on: { click } }, label);
}

/** Shares over time as a line with bands: the 95% interval, and the error that matters between periods. */
class BandChart {
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
function scaleOf(groups) {
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
