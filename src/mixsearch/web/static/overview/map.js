// The map: a circle with words for each topic, and links between similar topics.

import { h, replace, svg } from "../shared/dom.js";
import { mainWords, toneOf } from "../shared/wording.js";
import { placeLabels } from "./labels.js";
import { nameOf, searchOf } from "./legend.js";

const ASPECT = 3 / 2; // width over height in the server's layout
const UPRIGHT_BELOW = 560; // pixels; narrower maps are rotated
const SIDE_PER_TOPIC = 100; // pixels of the long side per square root of the number of topics
const SQUEEZED = 0.85; // of the width that needs; a narrower map scrolls
const MIN_TARGET = 13; // smallest radius of the area that takes clicks, in pixels
const CAPTION = 24;

export class TopicMap {
  #width = 0;
  #observer = new ResizeObserver(() => this.draw());

  constructor(topics, { page, pointed, caption }) {
    this.topics = topics;
    this.page = page;
    this.pointed = pointed;
    this.caption = caption;
    this.element = h("div", { class: "topic-map", on: { pointerleave: () => this.point(null) } });
    this.picture = null;
    this.#observer.observe(this.element);
  }

  close() {
    this.#observer.disconnect();
  }

  /** Draw the map at the available width. */
  draw() {
    const shown = Math.round(this.element.clientWidth);
    if (shown === 0 || shown === this.#width) return;
    this.#width = shown;
    const size = sizeOf(shown, SIDE_PER_TOPIC * Math.sqrt(this.topics.length));
    const circles = this.topics.map((topic) => circleOf(topic, size));
    const labels = placeLabels(circles, { ...size, font: getComputedStyle(this.element).fontFamily });
    this.links = svg("g", { class: "links" });
    this.circles = circles;
    this.marks = circles.map((circle, place) => this.#mark(circle, labels[place], place));
    this.picture = svg(
      "svg",
      { viewBox: `0 0 ${size.width} ${size.height + CAPTION}`, width: size.width, height: size.height + CAPTION, role: "group", "aria-label": "Map of topics" },
      this.links,
      this.marks,
      svg("text", { class: "caption", x: 4, y: size.height + CAPTION - 6 }, size.isUpright ? this.caption.short : this.caption.full),
    );
    replace(this.element, this.picture);
  }

  #mark({ x, y, r }, label, place) {
    const topic = this.topics[place];
    return svg(
      "a",
      {
        class: `topic-mark series-${topic.group} ${toneOf(topic)}`,
        href: this.page.addressOf("topics", { q: searchOf(topic) }),
        "aria-label": nameOf(topic),
        on: {
          click: (event) => this.page.follow(event, "topics", { q: searchOf(topic) }),
          pointerenter: () => this.point(place),
          focus: () => this.point(place),
          blur: () => this.point(null),
        },
      },
      svg("circle", { class: "to-touch", cx: x, cy: y, r: Math.max(r, MIN_TARGET) }),
      svg("circle", { class: "ground", cx: x, cy: y, r }),
      svg("circle", { class: "disc", cx: x, cy: y, r }),
      label && labelled(label),
    );
  }

  /** Highlight one topic and the topics most similar to it; null for none. */
  point(place) {
    const near = place === null ? [] : this.topics[place].near;
    const isKept = new Set([place, ...near.map(({ topic }) => topic)]);
    this.picture?.classList.toggle("is-pointed", place !== null);
    this.marks?.forEach((mark, each) => {
      mark.classList.toggle("is-chosen", each === place);
      mark.classList.toggle("is-kept", isKept.has(each));
    });
    if (this.links) replace(this.links, near.map(({ topic, overlap }) => link(this.circles[place], this.circles[topic], overlap)));
    this.pointed(place);
  }
}

/** Return the size for an available width: upright if it is narrow, and never too small to read. */
function sizeOf(shown, longest) {
  if (shown >= UPRIGHT_BELOW) return { width: shown, height: shown / ASPECT, isUpright: false };
  const ideal = longest / ASPECT;
  const width = Math.round(Math.max(shown, SQUEEZED * ideal));
  // What it lacks in width it gets in height.
  return { width, height: Math.max(width, ideal ** 2 / width) * ASPECT, isUpright: true };
}

/** Return a topic's circle in pixels. An upright map swaps the axes, which keeps all distances. */
function circleOf({ x, y, radius, words, label }, { width, height, isUpright }) {
  const [across, down] = isUpright ? [y, x] : [x, y];
  const more = mainWords(label).filter((word) => word !== words[0]);
  return { x: across * width, y: down * height, r: radius * (isUpright ? ASPECT * width : width), first: words[0], more };
}

function labelled({ x, anchor, lines, leader }) {
  const texts = lines.map(({ text, y, size, isFirst }) => svg("text", { class: isFirst ? "first" : "more", x, y, "text-anchor": anchor, "font-size": size }, text));
  return leader ? [svg("line", { class: "leader", ...leader }), ...texts] : texts;
}

/** Draw a line from rim to rim. */
function link(from, to, overlap) {
  const length = Math.hypot(to.x - from.x, to.y - from.y);
  const [right, down] = [(to.x - from.x) / length, (to.y - from.y) / length];
  const start = { x1: from.x + from.r * right, y1: from.y + from.r * down };
  const end = { x2: to.x - to.r * right, y2: to.y - to.r * down };
  return svg("line", { ...start, ...end, "stroke-width": 1 + 4 * overlap });
}
