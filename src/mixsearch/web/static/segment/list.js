// The list of segments: color, name, share and verdict.

import { h, replace } from "../shared/dom.js";
import { chance, percent } from "../shared/numbers.js";
import { badgeOf, toneOf } from "../shared/wording.js";
import { arrange, paint } from "./handles.js";
import { nameOf } from "./seeds.js";

export class SegmentList {
  #rows = new Map(); // segment id -> row

  /** Calls rename(id, name), choose(id), removeSegment(id), remove(shapeId), hover(index). */
  constructor({ max_name_length: maxLength }, act) {
    this.maxLength = maxLength;
    this.act = act;
    this.rows = h("ol", { class: "segment-rows" });
    this.element = h("section", { class: "segment-list", "aria-label": "Segments" }, h("h2", {}, "Segments"), this.rows);
  }

  /** Show segments, with results as far as they are known; cutOutOf(name) is the link to a cut-out. */
  draw(segments, results, chosen, colours, cutOutOf) {
    const rows = new Map();
    segments.forEach((segment, i) => {
      const row = this.#rows.get(segment.id) ?? this.#row(segment.id);
      this.#fill(row, segments, segment, colours[i], results[i], segment.id === chosen);
      row.cutOut.hidden = !results[i];
      if (results[i]) Object.assign(row.cutOut, cutOutOf(results[i].name));
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
        on: { input: (event) => act.rename(id, event.target.value), keydown: (event) => event.key === "Enter" && event.target.blur() },
      }),
      share: h("span", { class: "segment-share number" }),
      verdict: h("span", { class: "segment-verdict" }),
      pixels: h("span", { class: "segment-pixels" }),
      cutOut: h("a", { class: "button plain segment-more", title: "This segment as a transparent PNG with a soft edge" }, "Cut-out"),
      more: h("button", { type: "button", class: "button plain segment-more", on: { click: () => act.choose(id) } }, "Add to it"),
      remove: h("button", { type: "button", class: "button plain icon", on: { click: () => act.removeSegment(id) } }, "×"),
    };
    row.element = h(
      "li",
      { class: "segment-row", on: { pointerenter: () => act.hover(id), pointerleave: () => act.hover(null), focusin: () => act.hover(id), focusout: () => act.hover(null) } },
      h("div", { class: "segment-head" }, row.swatch, row.name, row.share, row.remove),
      h("div", { class: "segment-below" }, row.verdict, row.pixels, row.more, row.cutOut),
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
    row.more.setAttribute("aria-label", `Add to it: ${name}`);
    row.cutOut.setAttribute("aria-label", `Cut-out of ${name}`);
    row.remove.setAttribute("aria-label", `Remove ${name}`);
    row.element.classList.toggle("is-chosen", isChosen);
    const { shapes } = segment;
    if (row.shown !== shapes) replace(row.pixels, shapes.length > 1 ? shapes.map((shape) => this.#shape(shape, name)) : null);
    row.shown = shapes;
  }

  #shape({ id, points, isNot }, name) {
    const [x, y] = points[0];
    const place = points.length > 1 ? `stroke at ${x}, ${y}` : `${x}, ${y}`;
    const what = isNot ? `not ${place}` : place;
    return h(
      "button",
      { type: "button", class: "chip small", title: "Remove this seed", "aria-label": `Remove the seed ${what} of ${name}`, on: { click: () => this.act.remove(id) } },
      what,
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

/** The verdict and the overlap that it stands for. Only seeds on a graph have one. */
function badge(result) {
  const { expected_iou: expected, verdict_code: code } = result;
  if (code === "no_seed") return null;
  if (expected === null) return h("span", { class: "muted" }, "no verdict with these settings");
  const title = `Expected overlap with what you mean (intersection over union): ${chance(expected)}`;
  return h("span", { class: `verdict ${toneOf(result)}`, title }, `${badgeOf(result)}, ${chance(expected)}`);
}
