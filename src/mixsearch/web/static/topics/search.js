// One search, and its parameters in an address.

/**
 * @typedef {object} Search
 * @property {string} q
 * @property {string[]} documents
 * @property {number} narrower
 * @property {number} alternative
 * @property {string} words_by
 * @property {string | null} n_components
 * @property {string} where
 * @property {boolean} within
 */

/** @type {Search} */
const DEFAULTS = {
  q: "",
  documents: [],
  narrower: 0,
  alternative: 0,
  words_by: "typical",
  n_components: null,
  where: "",
  within: false,
};

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
    where: state.get("where")?.trim() ?? "",
    within: Boolean(state.get("where")?.trim()) && state.get("within") === "true",
  };
}

/**
 * Return a search without a hint among the same documents.
 * @param {Search} search
 * @returns {Search}
 */
export function withoutHint({ where, within }) {
  return { ...DEFAULTS, where, within };
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
export function oddityOf({ narrower, alternative, where }) {
  const breadth = narrower > 0 ? "narrower" : narrower < 0 ? "broader" : "";
  return [breadth, alternative > 0 ? "another meaning" : "", where].filter(Boolean).join(", ");
}

function numberOf(text) {
  const number = Number(text ?? 0);
  return Number.isFinite(number) ? number : 0;
}
