// Why there is no answer, in words, and what to do about it.

import { h } from "./dom.js";
import { wantedOf } from "./query.js";

export function trouble(error, query, act) {
  const unknown = unknownWord(error, query);
  const suggestion = (other) => {
    const swap = () => act.swap(unknown, other);
    return h("li", {}, h("button", { type: "button", class: "chip suggestion", on: { click: swap } }, other));
  };
  return h(
    "section",
    { id: "trouble", class: "card trouble", "data-code": error.code ?? "failed" },
    h("h1", {}, unknown ? ["No topic for ", h("q", {}, unknown)] : "No topic for this"),
    h("p", {}, error.message.replace(/ Nearest: .*$/u, "")), // the nearest words are buttons
    unknown && error.suggestions?.length > 0
      ? [h("h2", {}, "Did you mean"), h("ul", { class: "chips" }, error.suggestions.map(suggestion))]
      : null,
    error.code === "no_connection" || error.status >= 500
      ? h("button", { type: "button", class: "button", on: { click: act.again } }, "Try again")
      : null,
  );
}

/** The word that an error is about: it names it, or it is the first that was wanted. */
function unknownWord(error, query) {
  if (error.code !== "unknown_word") return null;
  const named = error.message.match(/^(['"])(.+?)\1 /u)?.[2];
  const wanted = wantedOf(query);
  return wanted.has(named?.toLowerCase()) ? named : [...wanted].find(([, isWanted]) => isWanted)?.[0] ?? null;
}
