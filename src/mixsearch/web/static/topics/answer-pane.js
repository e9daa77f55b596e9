// The answer pane: a topic, an error, or the welcome text.

import { alternativesSection } from "./alternatives.js";
import { Documents } from "./documents.js";
import { groupPanels } from "./group-panel.js";
import { h, replace } from "../shared/dom.js";
import { wantedOf } from "../shared/query.js";
import { paramsOf } from "./search.js";
import { TopicCard } from "./topic-card.js";
import { titleOf } from "../shared/topic-title.js";
import { topicActions, topicFiles } from "./topic-tools.js";
import { trouble } from "./trouble.js";
import { welcome } from "./welcome.js";

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

  addErrors(answer) {
    this.card?.addErrors(answer);
  }

  awaitConfidence() {
    this.card?.awaitConfidence();
  }

  addConfidence(answer) {
    this.card?.addConfidence(answer);
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
