// The state of the page is its address: topics as chips, a filter, a grouping and what is selected.

/** A topic that is asked for by words, by documents or both. */
export interface Chip {
  q: string;
  documents: number[];
  notDocuments: number[];
  narrower: number;
  meaning: number | null;
}

/** A group of documents that was clicked in the chart. */
export interface Selection {
  column: string;
  label: string;
}

export interface State {
  index: string | null; // null for the first one
  chips: Chip[];
  filter: string; // a condition on columns, or ""
  by: string | null; // the column of the chart; null for the usual one
  selected: number; // which chip is shown at the right
  group: Selection | null;
}

export const MAX_CHIPS = 8;

export function makeChip(q: string): Chip {
  return { q, documents: [], notDocuments: [], narrower: 0, meaning: null };
}

/** The query string of a topic, as the server reads it. */
export function queryOf(chip: Chip): URLSearchParams {
  const query = new URLSearchParams();
  if (chip.q) query.set("q", chip.q);
  for (const row of chip.documents) query.append("documents", String(row));
  for (const row of chip.notDocuments) query.append("not_documents", String(row));
  if (chip.narrower) query.set("narrower", String(chip.narrower));
  if (chip.meaning !== null) query.set("meaning", String(chip.meaning));
  return query;
}

export function keyOf(chip: Chip): string {
  return queryOf(chip).toString();
}

/** What a chip is called. */
export function nameOf(chip: Chip): string {
  const n = chip.documents.length;
  const marked = n === 1 ? `like document ${chip.documents[0]}` : `like ${n} documents`;
  const words = chip.q.replace(/^"([^"]*)"$/, "$1");
  const name = words && n ? `${words}, ${marked}` : words || marked;
  return chip.meaning === null ? name : `${name} (meaning ${chip.meaning + 1})`;
}

function readChip(text: string): Chip {
  const query = new URLSearchParams(text);
  const rows = (name: string) => query.getAll(name).map(Number).filter(Number.isInteger);
  const meaning = query.get("meaning");
  return {
    q: query.get("q") ?? "",
    documents: rows("documents"),
    notDocuments: rows("not_documents"),
    narrower: Number(query.get("narrower")) || 0,
    meaning: meaning === null ? null : Number(meaning),
  };
}

export function readState(search: string): State {
  const query = new URLSearchParams(search);
  const chips = query.getAll("t").map(readChip).filter((chip) => chip.q || chip.documents.length > 0);
  const [column, label] = [query.get("column"), query.get("group")];
  return {
    index: query.get("index"),
    chips: chips.slice(0, MAX_CHIPS),
    filter: query.get("where") ?? "",
    by: query.get("by"),
    selected: Math.max(Number(query.get("selected")) || 0, 0),
    group: column === null || label === null ? null : { column, label },
  };
}

export function writeState(state: State): string {
  const query = new URLSearchParams();
  if (state.index !== null) query.set("index", state.index);
  for (const chip of state.chips) query.append("t", keyOf(chip));
  if (state.filter) query.set("where", state.filter);
  if (state.by !== null) query.set("by", state.by);
  if (state.selected) query.set("selected", String(state.selected));
  if (state.group !== null) {
    query.set("column", state.group.column);
    query.set("group", state.group.label);
  }
  const written = query.toString();
  return written ? `?${written}` : "";
}

/** Write a value for a filter. */
export function quoteValue(value: string): string {
  return `"${value.replaceAll('"', '""')}"`;
}

/** Write the name of a column for a filter. */
export function quoteColumn(name: string): string {
  return /^[a-z_]\w*$/i.test(name) && !/^(and|or|not)$/i.test(name) ? name : `\`${name.replaceAll("`", "``")}\``;
}
