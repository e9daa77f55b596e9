// One search: what is asked, and how an address says it.

/**
 * @typedef {object} Search
 * @property {string} q
 * @property {string[]} like
 * @property {number} narrower
 * @property {number} alternative
 * @property {string} by
 * @property {string | null} n_components
 */

/** @type {Search} */
const DEFAULTS = { q: "", like: [], narrower: 0, alternative: 0, by: "typical", n_components: null };

/** @returns {Search} */
export function emptySearch() {
  return { ...DEFAULTS };
}

/** @param {URLSearchParams} state @returns {Search} */
export function readSearch(state) {
  return {
    q: state.get("q") ?? "",
    like: state.getAll("like").filter((row) => /^\d+$/.test(row)),
    narrower: numberOf(state.get("narrower")),
    alternative: Math.max(0, Math.trunc(numberOf(state.get("alternative")))),
    by: state.get("by") === "probability" ? "probability" : "typical",
    n_components: state.get("n_components"),
  };
}

/**
 * Its parameters, without those that have their default.
 * @param {Search} search
 */
export function paramsOf(search) {
  const said = Object.entries(search).filter(([name, value]) => String(value ?? "") !== String(DEFAULTS[name] ?? ""));
  return Object.fromEntries(said.map(([name, value]) => [name, name === "q" ? search.q.trim() : value]));
}

/** @param {Search} search */
export function isBlank(search) {
  return search.q.trim() === "" && search.like.length === 0;
}

/** What a person would call it. */
export function nameOf(search) {
  if (search.q.trim()) return search.q.trim();
  return `${search.like.length === 1 ? "document" : "documents"} ${search.like.join(", ")}`;
}

/** What of it is not as usual, in a word or two. */
export function oddityOf({ narrower, alternative }) {
  const breadth = narrower > 0 ? "narrower" : narrower < 0 ? "broader" : "";
  return [breadth, alternative > 0 ? "another reading" : ""].filter(Boolean).join(", ");
}

function numberOf(text) {
  const number = Number(text ?? 0);
  return Number.isFinite(number) ? number : 0;
}
