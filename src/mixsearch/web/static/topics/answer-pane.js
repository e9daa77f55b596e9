// The answer pane: a topic with its other meanings, an error, or the welcome text.

import { h, replace } from "../shared/dom.js";
import { count, wholePercents } from "../shared/numbers.js";
import { wantedOf } from "../shared/query.js";
import { mainWords, titleOf } from "../shared/wording.js";
import { Documents } from "./documents.js";
import { isAboutFilter } from "./filter-box.js";
import { groupPanels } from "./group-panel.js";
import { paramsOf } from "./search.js";
import { topicActions, TopicCard, topicFiles } from "./topic-card.js";
import { welcome } from "./welcome.js";

const WORDS_SHOWN = 6;

export class AnswerPane {
  /** @type {TopicCard | null} The topic, where one is shown. */
  card = null;

  constructor(page, act) {
    this.page = page;
    this.act = act;
    this.panels = groupPanels(page, act);
    this.element = h("div", { id: "answer" });
  }

  /** Say that a newer answer is pending; only a slow one dims the page. */
  wait() {
    this.element.setAttribute("aria-busy", "true");
  }

  dim() {
    this.element.classList.add("is-waiting");
  }

  showAnswer({ search, answer, nDocuments, tag }, name) {
    const params = paramsOf(search);
    const wanted = wantedOf(search.q);
    const actions = topicActions(this.page, params, { name, words: titleOf(answer.words), saved: this.act.saved });
    const files = topicFiles(this.page, params);
    const marked = [...answer.words.map(({ word }) => word), ...[...wanted.keys()].filter((word) => wanted.get(word))];
    this.card = new TopicCard(answer, { name, by: search.words_by, wanted, actions, files }, this.act);
    const open = (i) => this.act.openDocument(documents, i);
    const mark = (row, kind) => this.act.mark([[row, kind]]);
    const documents = new Documents(this.page, answer, { search, nDocuments, tag, words: marked }, { open, mark, order: this.act.sort, changed: this.act.changed });
    for (const panel of this.panels) panel.wait();
    this.#put(
      h("div", { class: "found" }, this.card.element, this.panels.map(({ element }) => element)),
      h("div", { class: "around" }, alternativesSection(answer, this.act), documents.element),
    );
  }

  /** Show the topic over time and by group. */
  addGroups({ search, tag }) {
    for (const panel of this.panels) panel.show(paramsOf(search), tag);
  }

  showTrouble(error) {
    this.#put(trouble(error, this.act));
  }

  showWelcome() {
    this.#put(welcome(this.page, this.act));
  }

  /** Replace the content and keep the focus on the same control, or near it. */
  #put(...children) {
    const active = this.element.contains(document.activeElement) ? document.activeElement : null;
    const key = active?.getAttribute("data-key");
    const place = placeOf(active);
    this.element.removeAttribute("aria-busy");
    this.element.classList.remove("is-waiting");
    replace(this.element, ...children);
    if (!active) return;
    /** @type {HTMLElement | null} */
    const same = (key && this.element.querySelector(`[data-key="${CSS.escape(key)}"]`)) || place?.(this.element);
    (same ?? this.element.querySelector("h1"))?.focus({ preventScroll: same !== null });
  }
}

/** Return what finds the switch at the same place of the list: a document that is marked as no leaves it. */
function placeOf(active) {
  const item = active?.closest(".document");
  if (!item || !active.classList.contains("mark")) return null;
  const i = [...item.parentElement.children].indexOf(item);
  const kind = active.classList.contains("yes") ? "yes" : "no";
  return (pane) => {
    const items = pane.querySelectorAll(".document");
    return items[Math.min(i, items.length - 1)]?.querySelector(`.mark.${kind}`) ?? null;
  };
}

/** Create the list of everything that the search could mean: all readings as one bar that adds up to 100%. */
function alternativesSection(answer, act) {
  const { alternatives, is_doubtful: isDoubtful, alternative } = answer;
  if (alternatives.length === 0) return null;
  const readings = readingsOf(answer);
  const rest = Math.max(1 - readings.reduce((sum, { share }) => sum + share, 0), 0);
  const percents = wholePercents([...readings.map(({ share }) => share), rest]);
  const doubt = isDoubtful && alternative === 0 ? " is-doubtful" : "";
  const about = "How much of your search each topic explains";
  return h(
    "section",
    { class: `alternatives${doubt}`, "aria-labelledby": "alternatives-title" },
    h("h2", { id: "alternatives-title" }, isDoubtful ? "It could also mean" : "Meanings"),
    h("p", { class: "small muted" }, `${about}.`),
    h("div", { class: "stacked", "aria-hidden": "true" }, readings.map((each, i) => part(each, i, percents[i])), part({ title: "other topics", share: rest }, "rest", percents.at(-1))),
    h("ul", {}, readings.map((each, i) => h("li", {}, reading(each, i, percents[i], act)))),
    percents.at(-1) > 0 ? h("p", { class: "rest small muted" }, h("i", { class: "series-key series-rest" }), `other topics: ${percents.at(-1)}%`) : null,
  );
}

/** Return the topic that is shown and the others, the largest share first. */
function readingsOf({ alternative, words, share_of_hint: share, alternatives }) {
  const shown = { rank: alternative, words: words.slice(0, WORDS_SHOWN).map(({ word }) => word), share, isShown: true };
  const others = alternatives.map((each) => ({ rank: each.rank, words: each.words, share: each.share_of_hint, isShown: false }));
  return [shown, ...others].map((each) => ({ ...each, title: titleOf(each.words) })).sort((a, b) => b.share - a.share);
}

function part({ title, share }, i, percent) {
  return h("i", { class: `series-${i}`, title: `${title}: ${percent}%`, style: { width: `${(100 * share).toFixed(2)}%` } });
}

/** Create the entry of a reading: a button, unless it is the one that is shown. */
function reading({ rank, words, isShown }, i, percent, act) {
  const content = [
    h("i", { class: `series-key series-${i}`, "aria-hidden": "true" }),
    h("span", { class: "alternative-words" }, mainWords(words).join(", "), isShown ? h("span", { class: "visually-hidden" }, " (shown)") : null),
    h("span", { class: "alternative-share number" }, percent > 0 ? `${percent}%` : "under 1%", h("span", { class: "visually-hidden" }, " of your search")),
  ];
  if (isShown) return h("div", { class: "alternative is-shown", "aria-current": "true" }, content);
  const props = { type: "button", class: "alternative", "data-rank": rank, "data-key": `alternative ${rank}` };
  return h("button", { ...props, on: { click: () => act.read(rank) } }, content);
}

/** The message, without the similar words, which are buttons. */
function reasonOf({ code, message, word, fields, suggestions = [] }) {
  const nWords = fields?.n_words;
  const isMisspelt = code === "unknown_word" && suggestions.length > 0 && nWords;
  return isMisspelt ? `'${word}' is not among the ${count(nWords, "word")}.` : message;
}

/** Show where a filter cannot be read. */
function filterHelp({ fields }, act) {
  const remove = { type: "button", class: "button plain", on: { click: () => act.filter("") } };
  return [fields.caret ? h("pre", { class: "caret" }, fields.caret) : null, h("button", remove, "Remove the filter")];
}

/** Describe an error of a search, and what to do about it. */
function trouble(error, act) {
  const unknown = error.word ?? null;
  const suggestion = (other) => {
    const swap = () => act.swap(unknown, other);
    return h("li", {}, h("button", { type: "button", class: "chip suggestion", on: { click: swap } }, other));
  };
  return h(
    "section",
    { id: "trouble", class: "card trouble", "data-code": error.code ?? "failed" },
    h("h1", {}, unknown ? ["No topic for ", h("q", {}, unknown)] : isAboutFilter(error) ? "This filter cannot be used" : "No topic for this"),
    h("p", {}, reasonOf(error)),
    isAboutFilter(error) ? filterHelp(error, act) : null,
    unknown && error.suggestions?.length > 0
      ? [h("h2", {}, "Did you mean"), h("ul", { class: "chips" }, error.suggestions.map(suggestion))]
      : null,
    error.code === "no_connection" || error.status >= 500
      ? h("button", { type: "button", class: "button", on: { click: act.again } }, "Try again")
      : null,
  );
}
