// The page for texts: topics as chips, one chart, the map of documents, and the selected topic.

import { render } from "preact";
import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { ApiError, fetchGroups, fetchIndexes, fetchOverview, fetchTopic, isAbort, listeners, shared } from "./api";
import { Chart } from "./Chart";
import { DocumentDialog } from "./DocumentDialog";
import { DocumentMap } from "./DocumentMap";
import { columnOf, columnsOf, FilterLine } from "./FilterLine";
import { SearchBox } from "./SearchBox";
import { keyOf, makeChip, MAX_CHIPS, nameOf, quoteColumn, quoteValue, readState, writeState, type Chip, type Selection, type State } from "./state";
import { ThemeButton } from "./ThemeButton";
import { TopicPanel } from "./TopicPanel";
import type { Groups, IndexInfo, Topic } from "./types";
import { useDrop } from "./useDrop";

const PAGE = 10;
const N_START = 5;
const PATIENCE = 1000; // milliseconds that a request may go on whose answer is not wanted any more
const REST = ["other", "other values"]; // what the server calls the values that are no group of their own

/** The state of the page, which is its address. */
function useAddress(): [State, (change: Partial<State>, push?: boolean) => void, (search: string) => void] {
  const read = () => readState(shared ? shared.state : location.search);
  const [state, setState] = useState(read);
  useEffect(() => {
    const onPopState = () => setState(read());
    addEventListener("popstate", onPopState);
    return () => removeEventListener("popstate", onPopState);
  }, []);
  const open = useCallback((search: string) => {
    if (!shared) history.pushState(null, "", search || "./");
    setState(readState(search));
  }, []);
  const navigate = useCallback((change: Partial<State>, push = true) => {
    setState((now) => {
      const next = { ...now, ...change };
      const search = writeState(next) || "./";
      if (!shared && push) history.pushState(null, "", search);
      else if (!shared) history.replaceState(null, "", search);
      return next;
    });
  }, []);
  return [state, navigate, open];
}

/** Fetch again when something changes; the result before stays until the next is there. */
function useFetched<T>(fetchIt: ((signal: AbortSignal) => Promise<T>) | null, keys: unknown[], onError: (error: unknown) => void): [T | null, boolean] {
  const [fetched, setFetched] = useState<T | null>(null);
  const [isPending, setPending] = useState(fetchIt !== null);
  const turn = useRef(Promise.resolve()); // one request at a time: the server is free for the latest of quick keys
  useEffect(() => {
    if (fetchIt === null) {
      setFetched(null);
      setPending(false);
      return undefined;
    }
    const controller = new AbortController();
    let isLatest = true;
    const show = (result: T | null) => {
      setFetched(result);
      setPending(false);
    };
    setPending(true);
    turn.current = turn.current.then(async () => {
      if (!isLatest) return;
      try {
        const result = await fetchIt(controller.signal);
        if (isLatest) show(result);
      } catch (error) {
        if (!isLatest || isAbort(error)) return;
        show(null);
        onError(error);
      }
    });
    return () => {
      isLatest = false;
      setTimeout(() => controller.abort(), PATIENCE);
    };
  }, keys);
  return [fetched, isPending];
}

function App() {
  const [address, navigate, open] = useAddress();
  const [indexes, setIndexes] = useState<IndexInfo[] | null>(null);
  const [draft, setDraft] = useState("");
  const [problem, setProblem] = useState<Error | null>(null);
  const [reading, setReading] = useState<number | null>(null);
  const [unread, setUnread] = useState<Error | null>(null); // why a topic was not found
  const [connection, setConnection] = useState<Error | null>(null);
  const showError = useCallback((error: unknown) => setProblem(toError(error)), []);

  useEffect(() => {
    const load = () => fetchIndexes().then(setIndexes, showError);
    Object.assign(listeners, { onConnection: setConnection, onChange: load });
    void load();
  }, []);
  const info = indexes?.find(({ name }) => name === address.index) ?? indexes?.[0] ?? null;

  // The start is the same page with large topics drawn, which the first topic of one's own replaces.
  const isEmpty = address.chips.length === 0;
  const findLargest = async (name: string) => {
    try {
      return await fetchOverview(name);
    } catch (error) {
      showError(error);
      return [];
    }
  };
  const [listed] = useFetched(
    info && isEmpty && !shared ? () => findLargest(info.name) : null,
    [info?.name, info?.generation, isEmpty],
    showError,
  );
  const isStarting = isEmpty && !shared && listed === null;
  const state = useMemo(() => {
    const chips = isEmpty ? (listed ?? []).slice(0, N_START).map(({ hint }) => makeChip(phrase(hint))) : address.chips;
    return { ...address, chips, selected: Math.max(Math.min(address.selected, chips.length - 1), 0) };
  }, [address, listed, isEmpty]);

  const drafted = draft.trim().length > 1 ? makeChip(draft.trim()) : null;
  const chip = drafted ?? state.chips[state.selected] ?? null;
  const [nDocuments, setNDocuments] = useState(PAGE);
  const chipKey = chip ? keyOf(chip) : "";
  const chips = state.chips;
  const column = state.by ?? (info ? columnOf(info) : null);
  const isOrdered = info?.columns.find(({ name }) => name === column)?.role === "date";
  const [groups] = useFetched<Groups>(
    info && column !== null && chips.length > 0 ? (signal) => fetchGroups(info.name, chips, column, isOrdered, state.filter, signal) : null,
    [info?.name, info?.generation, column, state.filter, chips.map(keyOf).join("\n")],
    showError,
  );
  // Null as long as the ends of the period that was clicked are not known.
  const where = state.group === null || shared ? state.filter : groups && conditionOf(state.group, state.filter, groups, info);
  useEffect(() => {
    setNDocuments(PAGE);
    setProblem(null);
    setUnread(null);
  }, [chipKey, where]);

  const [audited, setAudited] = useState<{ key: string; groups: Groups } | null>(null); // of the chip whose documents are judged
  const [topic, isPending] = useFetched<Topic>(
    info && chip && where !== null ? (signal) => fetchTopic(info.name, chip, { where, nDocuments, complete: drafted !== null, group: state.group }, signal) : null,
    [info?.name, info?.generation, chipKey, where, nDocuments, drafted !== null, state.group?.label],
    (error) => setUnread(toError(error)),
  );

  useEffect(() => {
    const name = chip ? nameOf(chip) : (info?.name ?? "");
    document.title = name ? `${name} · mixsearch` : "mixsearch";
  }, [chipKey, info?.name]);

  const change = (changed: Chip) => {
    const chipsNow = drafted ? [...address.chips, changed] : chips.map((each, i) => (i === state.selected ? changed : each));
    setDraft("");
    navigate({ chips: chipsNow, selected: drafted ? chipsNow.length - 1 : state.selected });
  };
  const add = (added: Chip) => {
    setDraft("");
    const existing = state.chips.findIndex((each) => keyOf(each) === keyOf(added));
    if (existing >= 0) navigate({ selected: existing });
    else if (address.chips.length < MAX_CHIPS) navigate({ chips: [...address.chips, added], selected: address.chips.length });
    else showError(new Error(`At most ${MAX_CHIPS} topics are shown. Remove one first.`));
  };
  const onCircle = useRef(add);
  onCircle.current = add;
  const remove = (i: number) => {
    const rest = state.chips.filter((_, j) => j !== i);
    navigate({ chips: rest, selected: Math.max(Math.min(state.selected - (i < state.selected ? 1 : 0), rest.length - 1), 0), group: null });
  };
  // Neither changes while one types.
  const chart = useMemo(
    () =>
      groups && groups.topics.length === chips.length ? (
        <Chart
          groups={groups}
          title={info?.name ?? ""}
          names={chips.map(nameOf)}
          audited={chips.map((each) => (audited?.key === keyOf(each) ? audited.groups : null))}
          selection={state.group}
          onSelect={(label) => navigate({ group: label === null || column === null ? null : { column, label } })}
        />
      ) : info && columnsOf(info).length === 0 ? (
        <p class="card muted">The documents have no dates or categories, so there is no chart.</p>
      ) : null,
    [groups, chips, state.group, column, info, audited],
  );
  const map = useMemo(
    () =>
      info && !isStarting ? (
        <DocumentMap
          index={info.name}
          generation={info.generation}
          chips={chips}
          where={where ?? ""}
          onCircle={(rows) => onCircle.current({ ...makeChip(""), documents: rows })}
          onOpen={setReading}
          onError={showError}
        />
      ) : null,
    [info, chips, where, isStarting],
  );
  if (indexes !== null && info === null) return <NothingServed />;
  if (info === null) return <Problem error={connection ?? problem} />;
  const words = [...(topic?.words.map(({ word }) => word) ?? []), ...(chip?.q.split(/[\s"]+/) ?? [])].filter((word) => word && !word.startsWith("-"));
  return (
    <>
      <SearchBox
        index={info.name}
        chips={state.chips}
        selected={drafted ? -1 : state.selected}
        draft={draft}
        onInput={setDraft}
        onCommit={(query) => add(makeChip(query))}
        onSelect={(selected) => {
          setDraft("");
          navigate({ selected });
        }}
        onRemove={remove}
      />
      <FilterLine indexes={indexes ?? []} info={info} state={state} groups={groups} where={where ?? state.filter} chip={state.chips[state.selected] ?? null} onChange={navigate} onOpen={open} onError={showError} />
      <Problem
        error={connection ?? (problem?.message === unread?.message ? null : problem)}
        onClose={connection ? undefined : () => setProblem(null)}
      />
      <div class="columns" aria-busy={isPending}>
        <div class="overview">
          {chart}
          {map}
        </div>
        {topic && chip ? (
          <TopicPanel
            index={info.name}
            chip={chip}
            position={drafted ? address.chips.length : state.selected}
            topic={topic}
            hasMore={topic.documents.length >= nDocuments && nDocuments < 100}
            isDraft={drafted !== null}
            grouping={{ over: isOrdered ? column : null, by: isOrdered ? null : column, where: state.filter }}
            onAudit={(found) => setAudited(found ? { key: chipKey, groups: found } : null)}
            onMore={() => setNDocuments(Math.min(nDocuments + PAGE, 100))}
            onOpen={({ row }) => setReading(row)}
            onChange={change}
            onAdd={(word) => add(makeChip(phrase(word)))}
            onError={showError}
          />
        ) : (
          <section class="card topic muted">
            <h1 dir="auto">{chip ? nameOf(chip) : info.name}</h1>
            {unread ? (
              <Problem error={unread} onWord={setDraft} />
            ) : isPending || isStarting ? (
              "Searching …"
            ) : (
              "Type a word to find the documents about it."
            )}
          </section>
        )}
      </div>
      {reading === null ? null : (
        <DocumentDialog
          index={info.name}
          row={reading}
          listed={topic?.documents ?? []}
          words={words}
          onGo={setReading}
          onClose={() => setReading(null)}
          onLike={(row) => {
            setReading(null);
            add({ ...makeChip(""), documents: [row] });
          }}
          onError={showError}
        />
      )}
    </>
  );
}

/** The condition on documents: the filter and the group that was clicked. */
function conditionOf({ column, label }: Selection, filter: string, groups: Groups, info: IndexInfo | null): string {
  const name = quoteColumn(column);
  const i = groups.topics[0]?.groups.findIndex((group) => group.label === label) ?? -1;
  const [start, end] = [groups.starts?.[i], groups.starts?.[i + 1]];
  const isWhole = info?.columns.find((each) => each.name === column)?.kind.includes("int"); // such numbers are years
  const write = (date: string) => (isWhole ? date.slice(0, 4) : date);
  const condition =
    groups.kind === "period" && start
      ? `${name} >= ${write(start)}${end ? ` and ${name} < ${write(end)}` : ""}`
      : groups.kind === "range"
        ? rangeOf(name, label)
        : groups.kind === "number"
          ? `${name} = ${label}`
          : REST.includes(label)
            ? `${name} not in (${(groups.topics[0]?.groups ?? []).map((group) => quoteValue(group.label)).join(", ")})`
            : `${name} = ${quoteValue(label)}`;
  return filter ? `(${filter}) and ${condition}` : condition;
}

/** The condition of a range of numbers, from its label: "under 2", "2 to <4", "4 or more". */
function rangeOf(name: string, label: string): string {
  const [, under, from, to, least] = /^(?:under (.+)|(.+) to <(.+)|(.+) or more)$/.exec(label) ?? [];
  if (under !== undefined) return `${name} < ${under}`;
  if (least !== undefined) return `${name} >= ${least}`;
  return from === undefined ? `${name} is not missing` : `${name} >= ${from} and ${name} < ${to}`;
}

/** A word as one types it: several that belong together in quotes. */
function phrase(word: string): string {
  return word.includes(" ") ? `"${word}"` : word;
}

function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}

function Problem({ error, onClose, onWord }: { error: Error | null; onClose?: () => void; onWord?: (word: string) => void }) {
  if (!error) return null;
  const suggestions = error instanceof ApiError && Array.isArray(error.fields.suggestions) ? (error.fields.suggestions as string[]) : [];
  return (
    <div class="notice" role="alert">
      <p>
        {error.message}{" "}
        {onWord
          ? suggestions.map((word) => (
              <button key={word} type="button" class="link" onClick={() => onWord(word)}>
                {word}
              </button>
            ))
          : null}
      </p>
      {onClose ? (
        <button type="button" aria-label="Close" onClick={onClose}>
          ×
        </button>
      ) : null}
    </div>
  );
}

function NothingServed() {
  return (
    <section class="card">
      <h1>No documents to search yet</h1>
      <p>Start the server with a file of texts, such as CSV, Parquet or JSON lines:</p>
      <p>
        <code>mixsearch serve reviews.csv</code>
      </p>
      <p>
        Or open a table, a picture or a file of texts <a href="open">here</a>.
      </p>
    </section>
  );
}

/** Open a file on the page for files, which is loaded in the place of this one. */
async function openFile(file: File): Promise<void> {
  if (shared || !root) return;
  (globalThis as { droppedFile?: File }).droppedFile = file;
  document.head.append(Object.assign(document.createElement("link"), { rel: "stylesheet", href: "static/files.css" }));
  render(null, root);
  await import("./files.js");
}

function Page() {
  const isOver = useDrop((file) => void openFile(file));
  return (
    <>
      <header class="masthead">
        <a class="brand" href="./">
          mixsearch
        </a>
        <nav aria-label="Other">{shared ? null : <a href="open">Open a file</a>}</nav>
        <ThemeButton />
      </header>
      <main id="view" class={isOver ? "is-over" : ""}>
        <App />
      </main>
    </>
  );
}

const root = document.getElementById("page");
if (root) render(<Page />, root);
