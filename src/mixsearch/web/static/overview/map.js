// The map as a picture: a circle for each topic, with its words, and links between those that are alike.

import { h, replace, svg } from "../shared/dom.js";
import { placeLabels } from "./labels.js";
import { nameOf, openTopic, queryOf } from "./topic.js";
import { toneOf } from "../shared/verdicts.js";

const ASPECT = 3 / 2; // of the map that the server lays out
const UPRIGHT_BELOW = 560; // pixels of width, from which on the map is turned on its side
const ROOM = 100; // pixels of the long side for the square root of the number of topics: a smaller map scrolls
const TO_TOUCH = 13; // radius in pixels that a finger or mouse finds
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

  /** Draw it as wide as there is room. */
  draw() {
    const shown = Math.round(this.element.clientWidth);
    if (shown === 0 || shown === this.#width) return;
    this.#width = shown;
    const size = sizeOf(shown, ROOM * Math.sqrt(this.topics.length));
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
        class: `topic-mark ${toneOf(topic)}`,
        href: this.page.addressOf("topics", { q: queryOf(topic) }),
        "aria-label": nameOf(topic),
        on: {
          click: (event) => openTopic(event, this.page, topic),
          pointerenter: () => this.point(place),
          focus: () => this.point(place),
          blur: () => this.point(null),
        },
      },
      svg("circle", { class: "to-touch", cx: x, cy: y, r: Math.max(r, TO_TOUCH) }),
      svg("circle", { class: "ground", cx: x, cy: y, r }),
      svg("circle", { class: "disc", cx: x, cy: y, r }),
      label && labelled(label),
    );
  }

  /** Set off one topic with those that are most like it; null for none. */
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

/** As wide as is shown, but with the least long side; upright where that is narrow. */
function sizeOf(shown, longest) {
  if (shown >= UPRIGHT_BELOW) return { width: shown, height: shown / ASPECT, isUpright: false };
  const width = Math.round(Math.max(shown, longest / ASPECT));
  return { width, height: width * ASPECT, isUpright: true };
}

/** A topic's circle in pixels; an upright map has its axes exchanged, which changes no distance. */
function circleOf({ x, y, radius, words, label }, { width, height, isUpright }) {
  const [across, down] = isUpright ? [y, x] : [x, y];
  const more = label.filter((word) => word !== words[0]);
  return { x: across * width, y: down * height, r: radius * Math.max(width, height), first: words[0], more };
}

function labelled({ x, anchor, lines }) {
  return lines.map(({ text, y, size, isFirst }) => svg("text", { class: isFirst ? "first" : "more", x, y, "text-anchor": anchor, "font-size": size }, text));
}

/** From rim to rim. */
function link(from, to, overlap) {
  const length = Math.hypot(to.x - from.x, to.y - from.y);
  const [right, down] = [(to.x - from.x) / length, (to.y - from.y) / length];
  const start = { x1: from.x + from.r * right, y1: from.y + from.r * down };
  const end = { x2: to.x - to.r * right, y2: to.y - to.r * down };
  return svg("line", { ...start, ...end, "stroke-width": 1 + 4 * overlap });
}
