// Errors of a search, and what to do about them.

import { h } from "../shared/dom.js";
import { isAboutFilter } from "./filter-box.js";
import { count } from "../shared/numbers.js";

/** The message, without the similar words, which are buttons. */
function reasonOf({ code, message, word, fields, suggestions = [] }) {
  const nWords = fields?.n_words;
  const isMisspelt = code === "unknown_word" && suggestions.length > 0 && nWords;
  return isMisspelt ? `'${word}' is not among the ${count(nWords, "word")}.` : message;
}

function titleOf(error) {
  return isAboutFilter(error) ? "This filter cannot be used" : "No topic for this";
}

/** Show where a filter cannot be read. */
function filterHelp({ fields }, act) {
  const remove = { type: "button", class: "button plain", on: { click: () => act.filter("") } };
  return [fields.caret ? h("pre", { class: "caret" }, fields.caret) : null, h("button", remove, "Remove the filter")];
}

export function trouble(error, act) {
  const unknown = error.word ?? null;
  const suggestion = (other) => {
    const swap = () => act.swap(unknown, other);
    return h("li", {}, h("button", { type: "button", class: "chip suggestion", on: { click: swap } }, other));
  };
  return h(
    "section",
    { id: "trouble", class: "card trouble", "data-code": error.code ?? "failed" },
    h("h1", {}, unknown ? ["No topic for ", h("q", {}, unknown)] : titleOf(error)),
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
