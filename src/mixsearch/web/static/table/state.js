// What the address says about a table: the examples, the columns and the axes.

// More examples than this say no more, and make the address too long.
export const MAX_LIKE = 60;

/** @typedef {{table: string, like: number[], notLike: number[], columns: string[], x: string, y: string}} State */

/** @param {URLSearchParams} params @returns {State} */
export function stateOf(params) {
  return {
    table: params.get("table") ?? "",
    like: rowsOf(params.getAll("like")),
    notLike: rowsOf(params.getAll("not_like")),
    columns: params.getAll("columns"),
    x: params.get("x") ?? "",
    y: params.get("y") ?? "",
  };
}

/** @param {State} state */
export function paramsOf({ table, like, notLike, columns, x, y }) {
  return { table, like, not_like: notLike, columns, x, y };
}

/** Add rows as examples or counterexamples; a row that is one already is taken out if it comes alone. */
export function withRows(state, rows, isUnlike) {
  const name = isUnlike ? "notLike" : "like";
  const other = isUnlike ? "like" : "notLike";
  const isRemoved = rows.length === 1 && state[name].includes(rows[0]);
  const kept = state[name].filter((row) => !rows.includes(row));
  const all = isRemoved ? kept : [...kept, ...rows].slice(-MAX_LIKE);
  return { ...state, [name]: all, [other]: state[other].filter((row) => !all.includes(row)) };
}

function rowsOf(texts) {
  return [...new Set(texts.filter((text) => /^\d{1,15}$/.test(text)).map(Number))];
}
