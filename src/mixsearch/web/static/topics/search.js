// One search, and its parameters in an address.

// Rows of documents in the name of a search without words.
const MAX_NAMED = 5;
/** @type {Search} */
const DEFAULTS = {
  q: "",
  documents: [],
  not_documents: [],
  narrower: 0,
  alternative: 0,
  words_by: "typical",
  sort_by: "",
  descending: false,
  n_components: null,
  where: "",
  within: false,
};

/**
 * @typedef {object} Search
 * @property {string} q
 * @property {string[]} documents rows of documents about the topic
 * @property {string[]} not_documents rows of documents that are not
 * @property {number} narrower
 * @property {number} alternative
 * @property {string} words_by
 * @property {string} sort_by the column that documents are sorted by
 * @property {boolean} descending
 * @property {string | null} n_components
 * @property {string} where
 * @property {boolean} within
 */

/** @returns {Search} */
export function emptySearch() {
  return { ...DEFAULTS };
}

/** @param {URLSearchParams} state @returns {Search} */
export function readSearch(state) {
  return {
    q: state.get("q") ?? "",
    documents: rowsOf(state, "documents"),
    not_documents: rowsOf(state, "not_documents"),
    narrower: numberOf(state.get("narrower")),
    alternative: Math.max(0, Math.trunc(numberOf(state.get("alternative")))),
    words_by: state.get("words_by") === "probability" ? "probability" : "typical",
    sort_by: state.get("sort_by") ?? "",
    descending: Boolean(state.get("sort_by")) && state.get("descending") === "true",
    n_components: state.get("n_components"),
    where: state.get("where")?.trim() ?? "",
    within: Boolean(state.get("where")?.trim()) && state.get("within") === "true",
  };
}

/**
 * Return a search without a hint among the same documents, in the same order.
 * @param {Search} search
 * @returns {Search}
 */
export function withoutHint({ where, within, sort_by, descending }) {
  return { ...DEFAULTS, where, within, sort_by, descending };
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

/**
 * Return a search with a document marked as about the topic, as not about it, or neither.
 * @param {Search} search
 * @param {string} row
 * @param {"yes" | "no" | null} mark
 * @returns {Search}
 */
export function withMark(search, row, mark) {
  const others = (rows) => rows.filter((each) => each !== row);
  const documents = others(search.documents);
  const notDocuments = others(search.not_documents);
  if (mark === "yes") documents.push(row);
  if (mark === "no") notDocuments.push(row);
  return { ...search, documents, not_documents: notDocuments, alternative: 0 };
}

/**
 * Return how a document is marked.
 * @param {Search} search
 * @param {string | number} row
 */
export function markOf({ documents, not_documents: notDocuments }, row) {
  if (documents.includes(String(row))) return "yes";
  return notDocuments.includes(String(row)) ? "no" : null;
}

/**
 * Return whether a search names rows of documents.
 * @param {Search} search
 */
export function hasMarks({ documents, not_documents: notDocuments }) {
  return documents.length + notDocuments.length > 0;
}

/**
 * @param {Search} search
 * @returns {Search}
 */
export function withoutMarks(search) {
  return { ...search, documents: [], not_documents: [], alternative: 0 };
}

/** Return a readable name. */
export function nameOf(search) {
  if (search.q.trim()) return search.q.trim();
  const { documents } = search;
  const shown = documents.slice(0, MAX_NAMED).join(", ");
  const more = documents.length > MAX_NAMED ? ` and ${documents.length - MAX_NAMED} more` : "";
  return `${documents.length === 1 ? "document" : "documents"} ${shown}${more}`;
}

function rowsOf(state, name) {
  return state.getAll(name).filter((row) => /^\d+$/.test(row));
}

function numberOf(text) {
  const number = Number(text ?? 0);
  return Number.isFinite(number) ? number : 0;
}
