// A file is opened: sent, looked at, and made an index or shown as a table.

import { useEffect, useRef, useState } from "preact/hooks";
import { get, isAbort } from "./api";
import type { ViewProps } from "./files";
import { whole } from "./format";
import { build, upload, type Step } from "./upload";
import { bytes } from "./values";

interface FileColumn {
  name: string;
  kind: string;
  role: string | null;
  example: string | null;
}

interface UploadedFile {
  file: string;
  name: string;
  n_bytes: number;
  columns: FileColumn[];
}

interface Progress {
  title: string;
  text: string;
  done: number | null; // null if unknown
  total: number;
  cancel: () => void;
}

export function OpenView({ settings, params, file, onGo, onFile, onError }: ViewProps) {
  const [uploaded, setUploaded] = useState<UploadedFile | null>(null);
  const [progress, setProgress] = useState<Progress | null>(null);
  const fileKey = params.get("file");
  const sent = useRef<string | null>(null);

  const fail = (error: unknown) => {
    if (isAbort(error)) return;
    setProgress(null);
    onError(error);
  };
  const show = (result: UploadedFile) => {
    setProgress(null);
    setUploaded(result);
    sent.current = result.file;
    const hasTexts = result.columns.some(({ role }) => role === "text");
    onGo(hasTexts ? "open" : "table", new URLSearchParams({ [hasTexts ? "file" : "table"]: result.file }), false);
  };

  useEffect(() => {
    const controller = new AbortController();
    if (file && settings.accepts_files && !fileKey) {
      const step = (done: number | null, text: string) =>
        setProgress({ title: `Sending ${file.name}`, text, done, total: file.size, cancel: () => onGo("open", new URLSearchParams()) });
      step(0, "Starting");
      const onProgress = (done: number) => (done < file.size ? step(done, `${bytes(done)} of ${bytes(file.size)}`) : step(null, "Looking at its columns"));
      upload<UploadedFile>(file.name, file, controller.signal, onProgress).then(show, fail);
    } else if (fileKey && fileKey !== sent.current) {
      get<UploadedFile>(`api/files/${encodeURIComponent(fileKey)}`).then((result) => {
        setUploaded(result);
        sent.current = result.file;
      }, fail);
    }
    return () => controller.abort();
  }, [file]);

  const building = useRef<AbortController | null>(null);
  useEffect(() => () => building.current?.abort(), []);
  const search = (found: UploadedFile, text: string[]) => {
    const controller = (building.current = new AbortController());
    const cancel = () => {
      controller.abort();
      setProgress(null);
    };
    const show = (step: string, done: number | null, total: number) => setProgress({ title: `Indexing ${found.name}`, text: step, done, total, cancel });
    show("Starting", null, 1);
    build(found.file, text, controller.signal, (step) => show(`${step.step}: ${amountOf(step)}`, step.total === null ? null : step.done, step.total ?? 1)).then(
      (index) => location.assign(`./?${new URLSearchParams({ index })}`),
      fail,
    );
  };

  if (!settings.accepts_files && !progress) {
    return (
      <section class="card start">
        <h1>No files of texts and tables here</h1>
        <p>Other computers can reach this server without a token, so it accepts no such files. Start it with --token.</p>
        <Examples />
      </section>
    );
  }
  if (progress) return <ProgressCard {...progress} />;
  if (uploaded && fileKey) {
    return <Columns key={uploaded.file} uploaded={uploaded} onBuild={(text) => search(uploaded, text)} onTable={() => onGo("table", new URLSearchParams({ table: uploaded.file }))} />;
  }
  return (
    <section class="card start" aria-labelledby="open-title">
      <h1 id="open-title">Open a file</h1>
      <p>Drop a file anywhere on this page, or choose one. Texts: search their topics. A table: find rows like a few. A picture: cut out its parts.</p>
      <FileButton label="Choose a file" accept={[...settings.table_suffixes, "image/*"]} onFile={onFile} />
      <p class="small muted">
        CSV, JSON lines, Parquet or Excel up to {bytes(settings.max_file)}, or a picture. The file stays on this server until it stops, and goes nowhere else.
      </p>
      <Examples />
    </section>
  );
}

/** A button that opens the file picker. */
function FileButton({ label, accept, onFile }: { label: string; accept: string[]; onFile: (file: File) => void }) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <button type="button" onClick={() => input.current?.click()}>
        {label}
      </button>
      <input
        ref={input}
        type="file"
        hidden
        accept={accept.join(",")}
        onChange={(event) => {
          const [file] = event.currentTarget.files ?? [];
          event.currentTarget.value = ""; // the same file may be chosen again
          if (file) onFile(file);
        }}
      />
    </>
  );
}

function Examples() {
  return (
    <p>
      No file at hand? Try <a href="table?table=example">a table of wines</a> or <a href="segment?picture=example">a picture</a>.
    </p>
  );
}

function ProgressCard({ title, text, done, total, cancel }: Progress) {
  return (
    <section class="card start">
      <h1>{title}</h1>
      {done === null ? <progress aria-label={title} /> : <progress aria-label={title} value={done} max={Math.max(total, 1)} />}
      <p class="small muted" role="status">
        {text}
      </p>
      <button type="button" onClick={cancel}>
        Cancel
      </button>
    </section>
  );
}

function amountOf({ done, total, unit }: Step): string {
  const format = unit === "bytes" ? bytes : whole;
  return `${format(done)}${total === null ? "" : ` of ${format(total)}`}${unit === "bytes" ? "" : ` ${unit}`}`;
}

function Columns({ uploaded, onBuild, onTable }: { uploaded: UploadedFile; onBuild: (text: string[]) => void; onTable: () => void }) {
  const { name, n_bytes: size, columns } = uploaded;
  const [chosen, setChosen] = useState(columns.filter(({ role }) => role === "text").map((column) => column.name));
  const toggle = (column: string) => setChosen(chosen.includes(column) ? chosen.filter((each) => each !== column) : [...chosen, column]);
  return (
    <form
      class="card start"
      onSubmit={(event) => {
        event.preventDefault();
        onBuild(columns.map((column) => column.name).filter((column) => chosen.includes(column)));
      }}
    >
      <h1 dir="auto">{name}</h1>
      <p class="muted">
        {bytes(size)}, {columns.length} columns. Tick the columns with the text, and search topics in them.
      </p>
      <div class="wide" tabIndex={0} role="region" aria-label="Columns of the file">
        <table>
          <thead>
            <tr>
              <th scope="col">Text</th>
              <th scope="col">Column</th>
              <th scope="col">Holds</th>
              <th scope="col">For example</th>
            </tr>
          </thead>
          <tbody>
            {columns.map((column) => (
              <tr key={column.name}>
                <td>
                  {column.kind === "text" ? (
                    <input type="checkbox" aria-label={`${column.name} holds text`} checked={chosen.includes(column.name)} onChange={() => toggle(column.name)} />
                  ) : null}
                </td>
                <th scope="row" dir="auto">
                  {column.name}
                </th>
                <td>{column.role ?? column.kind}</td>
                <td class="example muted" dir="auto">
                  {column.example ?? "no value"}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p class="toolbar">
        <button type="submit" class="primary" disabled={chosen.length === 0}>
          Search its texts
        </button>
        <button type="button" onClick={onTable}>
          Open as a table
        </button>
      </p>
    </form>
  );
}
