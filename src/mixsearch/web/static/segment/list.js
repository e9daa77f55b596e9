// The list of segments: color, name, share and verdict.

import { h, replace } from "../shared/dom.js";
import { percent } from "../shared/numbers.js";
import { arrange } from "./nodes.js";
import { nameOf } from "./seeds.js";
import { paint } from "./stage.js";
import { badgeOf, toneOf } from "../shared/verdicts.js";

const SHORT_BADGES = { close: "runner-up is close" }; // if the full one does not fit

export class SegmentList {
  #rows = new Map(); // segment id -> row

  /** Calls rename(id, name), choose(id), removeSegment(id), remove(pixelId). */
  constructor({ max_name_length: maxLength }, act) {
    this.maxLength = maxLength;
    this.act = act;
    this.rows = h("ol", { class: "segment-rows" });
    this.element = h("section", { class: "segment-list", "aria-label": "Segments" }, h("h2", {}, "Segments"), this.rows);
  }

  /** Show segments, with results as far as they are known. */
  draw(segments, results, chosen, colours) {
    const rows = new Map();
    segments.forEach((segment, i) => {
      const row = this.#rows.get(segment.id) ?? this.#row(segment.id);
      this.#fill(row, segments, segment, colours[i], results[i], segment.id === chosen);
      rows.set(segment.id, row);
    });
    this.#rows = rows;
    const rest = segments.length > 0 ? results.slice(segments.length).map(restRow) : [];
    arrange(this.rows, [...[...rows.values()].map(({ element }) => element), ...rest]);
    this.element.hidden = segments.length === 0;
  }

  #row(id) {
    const { act } = this;
    const row = {
      swatch: h("span", { class: "segment-swatch", "aria-hidden": "true" }),
      name: h("input", {
        type: "text",
        class: "segment-name",
        maxlength: this.maxLength,
        autocomplete: "off",
        spellcheck: "false",
        on: { input: (event) => act.rename(id, event.target.value), keydown: leaveOnEnter },
      }),
      share: h("span", { class: "segment-share number" }),
      verdict: h("span", { class: "segment-verdict" }),
      pixels: h("span", { class: "segment-pixels" }),
      more: h("button", { type: "button", class: "button plain segment-more", on: { click: () => act.choose(id) } }, "Add pixels"),
      remove: h("button", { type: "button", class: "button plain icon", on: { click: () => act.removeSegment(id) } }, "×"),
    };
    row.element = h(
      "li",
      { class: "segment-row" },
      h("div", { class: "segment-head" }, row.swatch, row.name, row.share, row.remove),
      h("div", { class: "segment-below" }, row.verdict, row.pixels, row.more),
    );
    return row;
  }

  #fill(row, segments, segment, colour, result, isChosen) {
    const name = nameOf(segments, segment);
    row.swatch.textContent = segments.indexOf(segment) + 1;
    if (colour) paint(row.swatch, colour);
    if (document.activeElement !== row.name) row.name.value = segment.name;
    row.name.placeholder = `segment ${segments.indexOf(segment) + 1}`;
    row.name.setAttribute("aria-label", `Name of ${name}`);
    row.share.textContent = result ? percent(result.share) : "";
    replace(row.verdict, result ? badge(result) : null);
    row.more.setAttribute("aria-pressed", isChosen);
    row.more.setAttribute("aria-label", `Add pixels to ${name}`);
    row.remove.setAttribute("aria-label", `Remove ${name}`);
    row.element.classList.toggle("is-chosen", isChosen);
    const { pixels } = segment;
    if (row.shown !== pixels) replace(row.pixels, pixels.length > 1 ? pixels.map((pixel) => this.#pixel(pixel, name)) : null);
    row.shown = pixels;
  }

  #pixel({ id, x, y }, name) {
    return h(
      "button",
      { type: "button", class: "chip small", title: "Remove this pixel", "aria-label": `Remove the pixel ${x}, ${y} of ${name}`, on: { click: () => this.act.remove(id) } },
      `${x}, ${y}`,
      h("span", { "aria-hidden": "true" }, "×"),
    );
  }
}

function restRow({ share, color: colour }) {
  const swatch = h("span", { class: "segment-swatch", "aria-hidden": "true" });
  paint(swatch, colour);
  return h(
    "li",
    { class: "segment-row" },
    h("div", { class: "segment-head" }, swatch, h("span", { class: "segment-name" }, "rest"), h("span", { class: "segment-share number" }, percent(share))),
    h("p", { class: "small muted" }, "All that is left. Click in it to make it a segment of its own."),
  );
}

function badge(result) {
  const { verdict, verdict_code: code } = result;
  return h("span", { class: `verdict ${toneOf(result)}`, title: verdict }, SHORT_BADGES[code] ?? badgeOf(result));
}

function leaveOnEnter(event) {
  if (event.key === "Enter") event.target.blur();
}
