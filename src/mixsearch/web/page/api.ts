// Requests to the server; a page that was shared as one file answers them from its own data.

import { keyOf, queryOf, type Chip } from "./state";
import type { Audit, FullDocument, Groups, IndexInfo, ListedDocument, ListedTopic, MapLabel, MapPoints, SavedSearch, Topic } from "./types";

export const NO_CONNECTION = "The server does not answer. It may have been stopped: start it again, and the page goes on by itself.";
const RETRY_MILLISECONDS = 1000;
const BUSY = 503; // what the server says that has too much to do
const MAX_TRIES = 5;
const [N_DRAWN, MAX_SNIPPET] = [10, 240];

export class ApiError extends Error {
  constructor(
    readonly code: string,
    message: string,
    readonly fields: Record<string, unknown> = {},
  ) {
    super(message);
    this.name = "ApiError";
  }
}

/** What a shared file holds. */
interface SharedData {
  info: IndexInfo;
  state: string;
  topics: Record<string, Topic>;
  groups: Record<string, Groups>; // by column
  places: Record<string, Record<string, string>>; // column -> row -> label
  map: string; // base64
  memberships: Record<string, string>; // base64
}

function readShared(): SharedData | null {
  const element = document.getElementById("shared-data");
  return element?.textContent ? (JSON.parse(element.textContent) as SharedData) : null;
}

/** The data of a shared file; null where a server answers. */
export const shared = readShared();

/** What the page does when the server is gone or back, and when an index has changed. */
export const listeners = { onConnection: (_problem: Error | null) => {}, onChange: () => {} };
const tags = new Map<string, string>();

async function request(path: string, options: RequestInit = {}): Promise<Response> {
  const response = await fetchPatiently(path, options);
  if (response.ok) {
    const [index, tag] = [/^api\/indexes\/[^/]+/.exec(path)?.[0], response.headers.get("ETag")];
    if (index !== undefined && tag !== null) {
      const isChanged = (tags.get(index) ?? tag) !== tag;
      tags.set(index, tag);
      if (isChanged) listeners.onChange();
    }
    return response;
  }
  const body = (await response.json().catch(() => null)) as { error?: { code: string; message: string; fields?: Record<string, unknown> } } | null;
  if (body?.error?.code === "unauthorized") location.reload(); // the server then says how to sign in
  throw new ApiError(body?.error?.code ?? "failed", body?.error?.message ?? `The server refused this (status ${response.status}).`, body?.error?.fields);
}

/** Fetch; what only reads is asked for again until the server answers. */
async function fetchPatiently(path: string, options: RequestInit): Promise<Response> {
  for (let tries = 0; ; ) {
    try {
      const response = await fetch(path, { credentials: "same-origin", ...options });
      listeners.onConnection(null);
      if (response.status !== BUSY || options.method !== undefined || tries++ >= MAX_TRIES) return response;
    } catch (error) {
      const problem = new ApiError("no_connection", NO_CONNECTION);
      if (isAbort(error)) throw error;
      if (options.method !== undefined) throw problem;
      listeners.onConnection(problem);
    }
    await new Promise((resolve) => setTimeout(resolve, RETRY_MILLISECONDS));
    options.signal?.throwIfAborted();
  }
}

export async function get<T>(path: string, query: URLSearchParams = new URLSearchParams(), signal?: AbortSignal): Promise<T> {
  const written = query.toString();
  const response = await request(written ? `${path}?${written}` : path, { signal });
  return (await response.json()) as T;
}

export async function send(method: string, path: string, body: unknown, signal?: AbortSignal): Promise<Response> {
  return request(path, { method, headers: { "Content-Type": "application/json" }, body: JSON.stringify(body), signal });
}

export function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === "AbortError";
}

function pathOf(index: string, rest: string): string {
  return `api/indexes/${encodeURIComponent(index)}/${rest}`;
}

export async function fetchIndexes(): Promise<IndexInfo[]> {
  if (shared) return [shared.info];
  return (await get<{ indexes: IndexInfo[] }>("api/indexes")).indexes;
}

export interface TopicOptions {
  where?: string;
  nDocuments?: number;
  skip?: number;
  complete?: boolean;
  group?: { column: string; label: string } | null;
}

export async function fetchTopic(index: string, chip: Chip, options: TopicOptions = {}, signal?: AbortSignal): Promise<Topic> {
  const { where = "", nDocuments = 10, skip = 0, complete = false, group = null } = options;
  if (shared) return pickShared(shared, chip, group, skip, nDocuments);
  const query = queryOf(chip);
  query.set("n_documents", String(nDocuments));
  if (skip) query.set("skip", String(skip));
  if (where) query.set("where", where);
  if (complete) query.set("complete", "true");
  return get<Topic>(pathOf(index, "topic"), query, signal);
}

/** Return the documents that a shared file holds. */
function pickShared(data: SharedData, chip: Chip, group: TopicOptions["group"], skip: number, n: number): Topic {
  const topic = data.topics[keyOf(chip)];
  if (!topic) throw new ApiError("not_shared", "This file holds only the topics that were shared. Open mixsearch to search for others.");
  const places = group ? (data.places[group.column] ?? {}) : null;
  const documents = places ? topic.documents.filter(({ row }) => places[row] === group?.label) : topic.documents;
  return { ...topic, documents: documents.slice(skip, skip + n) };
}

export async function fetchGroups(index: string, chips: Chip[], column: string, isOrdered: boolean, where: string, signal?: AbortSignal): Promise<Groups> {
  if (shared) {
    const groups = shared.groups[column];
    if (!groups) throw new ApiError("not_shared", "This file does not hold that column.");
    return groups;
  }
  const query = new URLSearchParams(chips.map((chip) => ["topic", keyOf(chip)]));
  query.set(isOrdered ? "over" : "by", column);
  if (where) query.set("where", where);
  return get<Groups>(pathOf(index, "groups"), query, signal);
}

/** A document of the state of the index that is shown: in another one, its row may be another document. */
export async function fetchDocument(index: string, row: number): Promise<FullDocument> {
  const tag = tags.get(pathOf(index, "").slice(0, -1));
  const response = await request(pathOf(index, `documents/${row}`), { headers: tag ? { "If-Match": tag } : {} });
  return (await response.json()) as FullDocument;
}

export async function fetchWords(index: string, prefix: string, signal?: AbortSignal): Promise<{ word: string; n_documents: number }[]> {
  if (shared) return [];
  return (await get<{ words: { word: string; n_documents: number }[] }>(pathOf(index, "words"), new URLSearchParams({ prefix }), signal)).words;
}

export async function fetchOverview(index: string): Promise<ListedTopic[]> {
  if (shared) return [];
  return (await get<{ topics: ListedTopic[] }>(pathOf(index, "overview"))).topics;
}

export async function fetchMap(index: string): Promise<MapPoints> {
  const bytes = shared ? decode(shared.map) : await (await request(pathOf(index, "map"))).arrayBuffer();
  const n = new DataView(bytes).getUint32(0, true);
  return {
    rows: new Uint32Array(bytes.slice(4, 4 + 4 * n)).map(((row) => (step: number) => (row += step))(0)),
    x: new Uint16Array(bytes.slice(4 + 4 * n, 4 + 6 * n)),
    y: new Uint16Array(bytes.slice(4 + 6 * n, 4 + 8 * n)),
    labels: JSON.parse(new TextDecoder().decode(bytes.slice(4 + 8 * n))) as MapLabel[],
  };
}

/** Which documents of the map are members of some topics, as bits, by the queries of the topics. */
export async function fetchMemberships(index: string, keys: string[], signal?: AbortSignal): Promise<Uint8Array[]> {
  if (shared) {
    const { memberships } = shared;
    return keys.map((key) => new Uint8Array(decode(memberships[key] ?? "")));
  }
  const query = new URLSearchParams(keys.map((key) => ["topic", key]));
  const bytes = await (await request(`${pathOf(index, "map/topics")}?${query}`, { signal })).arrayBuffer();
  const n = bytes.byteLength / keys.length;
  return keys.map((_, i) => new Uint8Array(bytes, i * n, n));
}

/** The column of the chart, and the filter of the documents in it. */
export interface Grouping {
  over: string | null;
  by: string | null;
  where: string;
}

/** Documents to judge, drawn so that they tell most about all. */
export async function drawSample(index: string, chip: Chip, judgements: Map<number, boolean>): Promise<ListedDocument[]> {
  const body = { judgements: Object.fromEntries(judgements), n: N_DRAWN };
  const { next } = (await (await send("POST", `${pathOf(index, "audit")}?${keyOf(chip)}`, body)).json()) as Audit;
  const documents = await Promise.all(next.map((row) => fetchDocument(index, row)));
  return documents.map(({ text, ...rest }) => ({ ...rest, membership: 0, snippet: text.length > MAX_SNIPPET ? `${text.slice(0, MAX_SNIPPET)}…` : text }));
}

export async function sendJudgements(index: string, chip: Chip, judgements: Map<number, boolean>, grouping: Grouping): Promise<Audit> {
  const body = { judgements: Object.fromEntries(judgements), n: 0, ...grouping };
  return (await send("POST", `${pathOf(index, "audit")}?${keyOf(chip)}`, body)).json() as Promise<Audit>;
}

export async function fetchSaved(index: string): Promise<SavedSearch[]> {
  if (shared) return [];
  return (await get<{ saved: SavedSearch[] }>(pathOf(index, "saved"))).saved;
}

export async function putSaved(index: string, saved: SavedSearch[]): Promise<void> {
  await send("PUT", pathOf(index, "saved"), { saved });
}

export function csvAddress(index: string, chip: Chip, where: string): string {
  const query = queryOf(chip);
  if (where) query.set("where", where);
  return `${pathOf(index, "topic.csv")}?${query}`;
}

export function shareAddress(index: string, state: string): string {
  return `${pathOf(index, "share.html")}?${new URLSearchParams({ state })}`;
}

function decode(base64: string): ArrayBuffer {
  return Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0)).buffer;
}
