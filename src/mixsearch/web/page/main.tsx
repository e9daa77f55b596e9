// The page for texts: topics as chips, one chart, the map of documents, and the selected topic.

import { render } from "preact";
import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { ApiError, fetchGroups, fetchIndexes, fetchOverview, fetchTopic, isAbort, shared } from "./api";
import { Chart } from "./Chart";
import { DocumentDialog } from "./DocumentDialog";
import { DocumentMap } from "./DocumentMap";
import { columnsOf, FilterLine } from "./FilterLine";
import { SearchBox } from "./SearchBox";
import { keyOf, makeChip, MAX_CHIPS, nameOf, quoted, readState, writeState, type Chip, type State } from "./state";
import { TopicPanel } from "./TopicPanel";
import type { Groups, IndexInfo, Topic } from "./types";

const PAGE = 10;
const N_START = 5;
const THEMES = ["auto", "light", "dark"];

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
  const [isPending, setPending] = useState(false);
  useEffect(() => {
    if (fetchIt === null) {
      setFetched(null);
      return undefined;
    }
    const controller = new AbortController();
    setPending(true);
    fetchIt(controller.signal).then(
      (result) => {
        if (controller.signal.aborted) return;
        setFetched(result);
        setPending(false);
      },
      (error: unknown) => {
        if (isAbort(error) || controller.signal.aborted) return;
        setFetched(null);
        setPending(false);
        onError(error);
      },
    );
    return () => controller.abort();
  }, keys);
  return [fetched, isPending];
}

function App() {
  const [state, navigate, open] = useAddress();
  const [indexes, setIndexes] = useState<IndexInfo[] | null>(null);
  const [draft, setDraft] = useState("");
  const [problem, setProblem] = useState<Error | null>(null);
  const [reading, setReading] = useState<number | null>(null);
  const showError = useCallback((error: unknown) => setProblem(error instanceof Error ? error : new Error(String(error))), []);

  useEffect(() => {
    fetchIndexes().then(setIndexes, showError);
  }, []);
  const info = indexes?.find(({ name }) => name === state.index) ?? indexes?.[0] ?? null;

  // The start is the same page with the largest topics drawn.
  const isEmpty = state.chips.length === 0;
  useEffect(() => {
    if (info && isEmpty && !shared && draft === "") {
      fetchOverview(info.name).then((topics) => {
        const chips = topics.slice(0, N_START).map(({ hint }) => makeChip(hint.includes(" ") ? `"${hint}"` : hint));
        if (chips.length > 0 && readState(location.search).chips.length === 0) navigate({ chips, selected: 0 }, false);
      }, showError);
    }
  }, [info?.name, isEmpty]);

  const drafted = draft.trim().length > 1 ? makeChip(draft.trim()) : null;
  const chip = drafted ?? state.chips[state.selected] ?? null;
  const [nDocuments, setNDocuments] = useState(PAGE);
  const chipKey = chip ? keyOf(chip) : "";
  const where = useWhere(info, state, navigate);
  useEffect(() => {
    setNDocuments(PAGE);
    setProblem(null);
  }, [chipKey, where]);

  const [topic, isPending] = useFetched<Topic>(
    info && chip ? (signal) => fetchTopic(info.name, chip, { where, nDocuments, complete: drafted !== null, group: state.group }, signal) : null,
    [info?.name, info?.generation, chipKey, where, nDocuments, drafted !== null, state.group?.label],
    showError,
  );

  const chips = useMemo(() => (drafted && state.chips.length < MAX_CHIPS ? [...state.chips] : state.chips), [state.chips, drafted !== null]);
  const column = state.by ?? info?.over ?? info?.by ?? null;
  const isOrdered = info?.columns.find(({ name }) => name === column)?.role === "date";
  const [groups] = useFetched<Groups>(
    info && column !== null && chips.length > 0 ? (signal) => fetchGroups(info.name, chips, column, isOrdered, state.filter, signal) : null,
    [info?.name, info?.generation, column, state.filter, chips.map(keyOf).join("\n")],
    showError,
  );
  useGroups.current = groups;

  useEffect(() => {
    const name = chip ? nameOf(chip) : (info?.name ?? "");
    document.title = name ? `${name} · mixsearch` : "mixsearch";
  }, [chipKey, info?.name]);

  if (indexes !== null && info === null) return <NothingServed />;
  if (info === null) return <Problem error={problem} onClose={() => setProblem(null)} />;
  const change = (changed: Chip) => {
    const chipsNow = drafted ? [...state.chips, changed] : state.chips.map((each, i) => (i === state.selected ? changed : each));
    setDraft("");
    navigate({ chips: chipsNow, selected: drafted ? chipsNow.length - 1 : state.selected });
  };
  const add = (added: Chip) => {
    setDraft("");
    const existing = state.chips.findIndex((each) => keyOf(each) === keyOf(added));
    if (existing >= 0) navigate({ selected: existing });
    else if (state.chips.length < MAX_CHIPS) navigate({ chips: [...state.chips, added], selected: state.chips.length });
    else showError(new Error(`At most ${MAX_CHIPS} topics are shown. Remove one first.`));
  };
  const remove = (i: number) => {
    const rest = state.chips.filter((_, j) => j !== i);
    navigate({ chips: rest, selected: Math.max(Math.min(state.selected - (i < state.selected ? 1 : 0), rest.length - 1), 0), group: null });
  };
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
      <FilterLine indexes={indexes ?? []} info={info} state={state} chip={state.chips[state.selected] ?? null} onChange={navigate} onOpen={open} onError={showError} />
      <Problem error={problem} onClose={() => setProblem(null)} onWord={(word) => setDraft(word)} />
      <div class="columns" aria-busy={isPending}>
        <div class="overview">
          {groups && groups.topics.length > 0 && chips.length > 0 ? (
            <Chart
              groups={groups}
              names={chips.map(nameOf)}
              selection={state.group}
              onSelect={(label) => navigate({ group: label === null || column === null ? null : { column, label } })}
            />
          ) : columnsOf(info).length === 0 ? (
            <p class="card muted">The documents have no dates or categories, so there is no chart.</p>
          ) : null}
          <DocumentMap
            index={info.name}
            generation={info.generation}
            chips={state.chips}
            onCircle={(rows) => add({ ...makeChip(""), documents: rows })}
            onOpen={setReading}
            onError={showError}
          />
        </div>
        {topic && chip ? (
          <TopicPanel
            index={info.name}
            chip={chip}
            position={drafted ? state.chips.length : state.selected}
            topic={topic}
            hasMore={topic.documents.length >= nDocuments && nDocuments < 100}
            isDraft={drafted !== null}
            onMore={() => setNDocuments(Math.min(nDocuments + PAGE, 100))}
            onOpen={({ row }) => setReading(row)}
            onChange={change}
            onAdd={(word) => add(makeChip(word.includes(" ") ? `"${word}"` : word))}
            onError={showError}
          />
        ) : (
          <section class="card topic muted">{isPending || isEmpty ? "Searching …" : "Nothing found."}</section>
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

/** The groups that are drawn, which know where a period begins and ends. */
const useGroups: { current: Groups | null } = { current: null };

/** The condition on documents: the filter and the group that was clicked. */
function useWhere(info: IndexInfo | null, state: State, navigate: (change: Partial<State>, push?: boolean) => void): string {
  const { group, filter } = state;
  useEffect(() => {
    if (info && group && !info.columns.some(({ name }) => name === group.column)) navigate({ group: null }, false);
  }, [info?.name, group?.column]);
  if (!info || !group || shared) return filter;
  const condition = conditionOf(group.column, group.label, useGroups.current);
  return [filter && `(${filter})`, condition].filter(Boolean).join(" and ");
}

function conditionOf(column: string, label: string, groups: Groups | null): string {
  const i = groups?.topics[0]?.groups.findIndex((group) => group.label === label) ?? -1;
  const start = groups?.starts?.[i];
  if (groups?.kind === "period" && start) {
    const end = groups.starts?.[i + 1];
    return end ? `${column} >= ${start} and ${column} < ${end}` : `${column} >= ${start}`;
  }
  return groups?.kind === "number" ? `${column} = ${label}` : `${column} = ${quoted(label)}`;
}

function Problem({ error, onClose, onWord }: { error: Error | null; onClose: () => void; onWord?: (word: string) => void }) {
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
      <button type="button" aria-label="Close" onClick={onClose}>
        ×
      </button>
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

function ThemeButton() {
  const stored = () => {
    try {
      return localStorage.getItem("theme") ?? "auto";
    } catch {
      return "auto";
    }
  };
  const [theme, setTheme] = useState(stored);
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (theme === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    try {
      localStorage.setItem("theme", theme);
    } catch {
      // a browser that stores nothing
    }
  }, [theme]);
  const next = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] ?? "auto";
  return (
    <button ref={button} type="button" title={`Change to ${next}`} onClick={() => setTheme(next)}>
      Theme: {theme}
    </button>
  );
}

function Page() {
  return (
    <>
      <header class="masthead">
        <a class="brand" href="./">
          mixsearch
        </a>
        <nav aria-label="Other">{shared ? null : <a href="open">Open a file</a>}</nav>
        <ThemeButton />
      </header>
      <main id="view">
        <App />
      </main>
    </>
  );
}

const root = document.getElementById("page");
if (root) render(<Page />, root);
