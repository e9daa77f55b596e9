// The page for files: texts become an index, tables and pictures open here.

import { render } from "preact";
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { get, listeners } from "./api";
import { OpenView } from "./OpenView";
import { PictureView } from "./PictureView";
import { TableView } from "./TableView";
import { ThemeButton } from "./ThemeButton";
import { isPicture, type Settings } from "./upload";
import { useDrop } from "./useDrop";

const TITLES: Record<string, string> = { open: "Open a file", table: "Table", segment: "Picture" };

/** What a view of this page is given. */
export interface ViewProps {
  settings: Settings;
  params: URLSearchParams;
  file: File | null; // dropped or chosen just now
  onGo: (view: string, params: URLSearchParams, push?: boolean) => void;
  onFile: (file: File) => void;
  onError: (error: unknown) => void;
}

interface Place {
  view: string;
  params: URLSearchParams;
  file: File | null;
  turn: number; // a new one for each file, so that its view starts afresh
}

/** A file that was dropped on the page for texts, which has loaded this script for it. */
const handOver = globalThis as { droppedFile?: File };

function viewOf(): string {
  return location.pathname.split("/").pop() ?? "";
}

function isHere(): boolean {
  return viewOf() in TITLES;
}

function readPlace(): Place {
  return { view: isHere() ? viewOf() : "open", params: new URLSearchParams(location.search), file: null, turn: 0 };
}

function App() {
  const [settings, setSettings] = useState<Settings | null>(null);
  const [place, setPlace] = useState(readPlace);
  const [problem, setProblem] = useState("");
  const [connection, setConnection] = useState("");
  const onError = useCallback((error: unknown) => setProblem(error instanceof Error ? error.message : String(error)), []);
  const onGo = useCallback((view: string, params: URLSearchParams, push = true) => {
    const query = params.toString();
    const address = query ? `${view}?${query}` : view;
    if (push) history.pushState(null, "", address);
    else history.replaceState(null, "", address);
    setProblem("");
    setPlace((now) => ({ ...now, view, params, file: view === now.view ? now.file : null }));
  }, []);
  const onFile = useRef((_: File) => {});
  onFile.current = (file) => {
    if (!settings) return;
    const view = isPicture(file, settings) ? "segment" : "open";
    history.pushState(null, "", view);
    setProblem("");
    setPlace((now) => ({ view, params: new URLSearchParams(), file, turn: now.turn + 1 }));
  };

  useEffect(() => {
    listeners.onConnection = (error) => setConnection(error?.message ?? "");
    get<Settings>("api/settings").then(setSettings, onError);
    addEventListener("popstate", () => {
      if (isHere()) setPlace((now) => ({ ...readPlace(), turn: now.turn }));
      else location.reload(); // it was opened from the page for texts
    });
  }, []);
  useEffect(() => {
    const file = handOver.droppedFile;
    if (settings) handOver.droppedFile = undefined;
    if (settings && file) onFile.current(file);
  }, [settings]);
  const isOver = useDrop((file) => onFile.current(file));
  useEffect(() => {
    document.title = `${TITLES[place.view]} · mixsearch`;
  }, [place.view]);

  const isTable = place.view === "table" && place.params.has("table");
  const isShown = place.view === "segment" && (place.file !== null || place.params.has("picture"));
  const View = isTable ? TableView : isShown ? PictureView : OpenView;
  return (
    <>
      <header class="masthead">
        <a class="brand" href="./">
          mixsearch
        </a>
        <nav aria-label="Other">
          <a href="open">Open a file</a>
        </nav>
        <ThemeButton />
      </header>
      <main id="view" class={isOver ? "is-over" : ""}>
        {connection ? (
          <p class="notice" role="alert">
            {connection}
          </p>
        ) : null}
        {problem ? (
          <div class="notice" role="alert">
            <p>{problem}</p>
            <button type="button" aria-label="Close" onClick={() => setProblem("")}>
              ×
            </button>
          </div>
        ) : null}
        {settings ? (
          <View
            key={`${place.view} ${place.turn}`}
            settings={settings}
            params={place.params}
            file={place.file}
            onGo={onGo}
            onFile={(file: File) => onFile.current(file)}
            onError={onError}
          />
        ) : (
          <p class="muted" role="status">
            Loading …
          </p>
        )}
      </main>
    </>
  );
}

const root = document.getElementById("page");
if (root) render(<App />, root);
