// Where the page is least sure, and buttons to say what is there.

import { h, replace } from "../shared/dom.js";

export class Doubt {
  /** Calls answer(index) with a segment, or null for something else. */
  constructor(answer) {
    this.answer = answer;
    this.element = h("div", { class: "segment-doubt", hidden: true });
  }

  /** Ask about a pixel; names are those of the segments. */
  draw(names) {
    this.element.hidden = names.length === 0;
    const button = (label, index) =>
      h("button", { type: "button", class: "chip small", on: { click: () => this.answer(index) } }, label);
    replace(
      this.element,
      h("span", {}, h("span", { class: "segment-suggested is-inline", "aria-hidden": "true" }), " The ring is where another seed helps most. What is there?"),
      names.map((name, i) => button(name, i)),
      button("something else", null),
    );
  }
}
