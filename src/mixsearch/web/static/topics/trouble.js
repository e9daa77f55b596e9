// Why there is no answer, in words, and what to do about it.

import { h } from "../shared/dom.js";

export function trouble(error, act) {
  const unknown = error.word ?? null;
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
