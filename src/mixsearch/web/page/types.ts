// What the server answers.

export interface Column {
  name: string;
  kind: string;
  role: string | null;
}

export interface IndexInfo {
  name: string;
  generation: string;
  n_documents: number;
  n_words: number;
  has_names: boolean;
  columns: Column[];
  over: string | null;
  by: string | null;
}

export interface TopicWord {
  word: string;
  share: number;
  lift: number;
}

export interface ListedDocument {
  row: number;
  name: string | null;
  title: string | null;
  link: string | null;
  date: string | null;
  membership: number;
  snippet: string | null;
  columns: Record<string, unknown>;
}

export interface Topic {
  hint: string;
  read_as: string;
  sentence: string;
  n_documents: number;
  n_members: number | null;
  about: string | null;
  share: number | null;
  n_containing: number | null;
  match: "strong" | "fair" | "weak" | null;
  check: string;
  words: TopicWord[];
  alternatives: { words: string[]; share: number }[];
  documents: ListedDocument[];
  warnings: { code: string; message: string }[];
}

export interface Group {
  label: string;
  series: string | null;
  n_documents: number;
  n_members: number;
  share: number | null;
  n_containing: number | null;
  estimate: number | null; // the share by judged documents, with a 95% interval
  low: number | null;
  high: number | null;
}

export interface Groups {
  over: string | null;
  by: string | null;
  kind: "period" | "category" | "number" | "range";
  starts: string[] | null;
  n_missing: number;
  topics: { hint: string; n_members: number; groups: Group[] }[];
}

export interface FullDocument {
  row: number;
  name: string | null;
  title: string | null;
  link: string | null;
  date: string | null;
  text: string;
  is_cut: boolean;
  columns: Record<string, unknown>;
}

/** An estimate with the ends of its 95% interval. */
export interface Estimate {
  estimate: number;
  low: number;
  high: number;
}

/** What judged documents or rows say. */
export interface AuditResult {
  n_judged: number;
  n_rows: number;
  n_members: Estimate;
  precision: Estimate;
  recall: Estimate;
}

export interface Audit {
  audit: AuditResult | null;
  next: number[]; // to judge
  groups?: Groups; // with intervals
}

export interface ListedTopic {
  hint: string;
  words: string[];
  n_members: number;
  share: number;
}

export interface MapPoints {
  rows: Uint32Array;
  x: Uint16Array;
  y: Uint16Array;
  labels: MapLabel[]; // of the largest topics
}

export interface MapLabel {
  word: string;
  x: number;
  y: number;
}

export interface SavedSearch {
  name: string;
  state: string;
}
