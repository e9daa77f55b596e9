// The words of a topic as bars, the longest first. Whiskers of one standard error are added later without moving anything.

import { h } from "../shared/dom.js";
import { giveOrTake, percent, times } from "../shared/numbers.js";
import { rove } from "../shared/roving.js";
import { wordButton, wordTools } from "./word-buttons.js";

const WHISKER_MARGIN = 1.15;

export class WordBars {
  constructor(words, wanted, act) {
    const sorted = [...words].sort((a, b) => b.probability - a.probability);
    this.full = WHISKER_MARGIN * Math.max(...words.map(({ probability }) => probability), 1e-12);
    this.rows = new Map(sorted.map((each) => [each.word, this.#row(each, wanted, act)]));
    this.element = h(
      "ol",
      { class: "word-rows", "aria-label": "Words of the topic, with their probability in it" },
      [...this.rows.values()].map(({ element }) => element),
    );
    rove(this.element, ".word-row");
  }

  /** Add whiskers and standard errors. */
  addErrors(words) {
    for (const { word, probability, probability_stderr: stderr } of words) {
      const row = this.rows.get(word);
      if (!row || stderr === null) continue;
      const low = Math.max(probability - stderr, 0);
      const high = Math.min(probability + stderr, this.full);
      row.bar.append(h("i", { class: "whisker", style: { left: this.#part(low), width: this.#part(high - low) } }));
      row.error.textContent = giveOrTake(probability, stderr);
    }
  }

  #row({ word, probability, likelier }, wanted, act) {
    const fill = h("i", { class: "fill", style: { width: this.#part(probability) } });
    const bar = h("span", { class: "bar", "aria-hidden": "true" }, fill);
    const error = h("span", { class: "error number" });
    const element = h(
      "li",
      { class: "word-row", "data-word": word },
      h("span", { class: "word" }, wordButton(word, wanted, act, { class: "word-name" }), wordTools(word, wanted, act)),
      bar,
      h("span", { class: "probability number" }, percent(probability)),
      error,
      h("span", { class: "likelier number" }, times(likelier)),
    );
    return { element, bar, error };
  }

  #part(probability) {
    return `${((100 * probability) / this.full).toFixed(2)}%`;
  }
}
