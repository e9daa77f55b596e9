// One search, and its parameters in an address.

/**
 * @typedef {object} Search
 * @property {string} q
 * @property {string[]} documents
 * @property {number} narrower
 * @property {number} alternative
 * @property {string} words_by
 * @property {string | null} n_components
 */

/** @type {Search} */
const DEFAULTS = { q: "", documents: [], narrower: 0, alternative: 0, words_by: "typical", n_components: null };

/** @returns {Search} */
export function emptySearch() {
  return { ...DEFAULTS };
}

/** @param {URLSearchParams} state @returns {Search} */
export function readSearch(state) {
  return {
    q: state.get("q") ?? "",
    documents: state.getAll("documents").filter((row) => /^\d+$/.test(row)),
    narrower: numberOf(state.get("narrower")),
    alternative: Math.max(0, Math.trunc(numberOf(state.get("alternative")))),
    words_by: state.get("words_by") === "probability" ? "probability" : "typical",
    n_components: state.get("n_components"),
  };
}

/**
 * Return the parameters of a search, without defaults.
 * @param {Search} search
 */
export function paramsOf(search) {
  const given = Object.entries(search).filter(([name, value]) => String(value ?? "") !== String(DEFAULTS[name] ?? ""));
  return Object.fromEntries(given.map(([name, value]) => [name, name === "q" ? search.q.trim() : value]));
}

/** @param {Search} search */
export function isBlank(search) {
  return search.q.trim() === "" && search.documents.length === 0;
}

/** Return a readable name. */
export function nameOf(search) {
  if (search.q.trim()) return search.q.trim();
  return `${search.documents.length === 1 ? "document" : "documents"} ${search.documents.join(", ")}`;
}

/** Describe options that differ from the default. */
export function oddityOf({ narrower, alternative }) {
  const breadth = narrower > 0 ? "narrower" : narrower < 0 ? "broader" : "";
  return [breadth, alternative > 0 ? "another reading" : ""].filter(Boolean).join(", ");
}

function numberOf(text) {
  const number = Number(text ?? 0);
  return Number.isFinite(number) ? number : 0;
}
