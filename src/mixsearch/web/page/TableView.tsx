// A table: its rows a page at a time, ticked yes or no, and sorted by likeness to those that were ticked.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { ApiError, send } from "./api";
import type { ViewProps } from "./files";
import { percent, plural, roughly, whole } from "./format";
import { Judged } from "./Judged";
import { TablePlot } from "./TablePlot";
import { useAnswer } from "./useAnswer";
import type { Audit, AuditResult } from "./types";
import { averageOf, chanceOf, shown, type Value } from "./values";

const N_ROWS = 50;
const N_JUDGED = 10; // rows that are drawn to judge
const MAX_COLUMNS = 40;
const N_DIFFERENCES = 5;
const UNUSABLE = ["empty", "other"];

export interface TableColumn {
  name: string;
  kind: string;
}

interface TableInfo {
  name: string;
  n_rows: number;
  columns: TableColumn[];
  warnings: { message: string }[];
}

interface TableRow {
  row: number;
  membership: number | null;
  values: Record<string, Value>;
}

interface Difference {
  column: string;
  members: number | string | Record<string, number>;
  others: number | string | Record<string, number>;
  effect: number;
}

export interface Members {
  answer: { n_members: number | null; is_probability: boolean; check: string; differences: Difference[]; missing: string[]; dropped_columns: Record<string, string> };
  is_member: boolean[];
  warnings: { message: string }[];
}

/** The parameters of some names, as a query string. */
function pick(params: URLSearchParams, names: string[], more: Record<string, string> = {}): string {
  return new URLSearchParams([...[...params].filter(([name]) => names.includes(name)), ...Object.entries(more)]).toString();
}

export function TableView({ params, onGo, onError }: ViewProps) {
  const path = `api/tables/${encodeURIComponent(params.get("table") ?? "")}`;
  const question = pick(params, ["examples", "not_examples", "columns"]);
  const isAsked = params.has("examples");
  const [info] = useAnswer<TableInfo>(path, (error) => {
    onGo("open", new URLSearchParams(), false);
    onError(error);
  });
  const [members, isSearching] = useAnswer<Members>(info && isAsked ? `${path}/members?${question}` : null, onError);
  const skip = Number(params.get("skip") ?? 0);
  const query = pick(params, ["examples", "not_examples", "columns", "where", "sort_by", "descending", "rows", "skip"], { n_rows: String(N_ROWS) });
  const [page, isLoading] = useAnswer<{ n_matching: number; rows: TableRow[] }>(info ? `${path}/rows?${query}` : null, (error) => {
    if (error instanceof ApiError && params.has("where")) change({ where: null });
    onError(error);
  });

  // Ticks gather until they are applied; the rows stay where they are meanwhile.
  const applied = useMemo(() => ticksOf(params), [question]);
  const [ticks, setTicks] = useState(applied);
  useEffect(() => setTicks(applied), [applied]);
  const nChanged = [...new Set([...ticks.keys(), ...applied.keys()])].filter((row) => ticks.get(row) !== applied.get(row)).length;
  const nYes = [...ticks.values()].filter(Boolean).length;
  const tick = (row: number, isMember: boolean) => {
    const changed = new Map(ticks);
    if (changed.get(row) === isMember) changed.delete(row);
    else changed.set(row, isMember);
    setTicks(changed);
  };
  const change = (changes: Record<string, string | string[] | null>) => {
    const next = new URLSearchParams(params);
    next.delete("skip");
    for (const [name, value] of Object.entries(changes)) {
      next.delete(name);
      for (const each of value === null ? [] : [value].flat()) next.append(name, each);
    }
    onGo("table", next);
  };
  // Rows that are drawn to judge: their ticks tell how many rows there are.
  const listed = params.getAll("rows").map(Number);
  const drawn = params.has("judge") ? listed : [];
  const judged = drawn.filter((row) => ticks.has(row));
  const [audit, setAudit] = useState<AuditResult | null>(null);
  const sendJudged = async (rows: number[], n: number) => {
    const judgements = Object.fromEntries(rows.map((row) => [row, ticks.get(row)]));
    return (await (await send("POST", `${path}/audit?${question}`, { judgements, n })).json()) as Audit;
  };
  const judge = () => void sendJudged([], N_JUDGED).then(({ next }) => change({ rows: next.map(String), judge: "", sort_by: null, descending: null, where: null }), onError);
  useEffect(() => {
    if (judged.length === 0) setAudit(null);
    else sendJudged(judged, 0).then((result) => setAudit(result.audit), onError);
  }, [judged.map((row) => `${row} ${ticks.get(row)}`).join(), question]);
  const apply = () => {
    const rows = (isMember: boolean) => [...ticks].filter(([, each]) => each === isMember).map(([row]) => String(row));
    change({ examples: rows(true), not_examples: nYes > 0 ? rows(false) : [], sort_by: null, descending: null, rows: null, judge: null });
  };

  if (!info) return <Waiting text="Reading the table …" />;
  const differences = members?.answer.differences ?? [];
  const order = new Map(differences.map(({ column }, i) => [column, i]));
  const columns = [...info.columns].sort((a, b) => (order.get(a.name) ?? order.size) - (order.get(b.name) ?? order.size)).slice(0, MAX_COLUMNS);
  const [sortBy, isDescending] = [params.get("sort_by"), params.get("descending") === "true"];
  const sort = (name: string) => change(sortBy !== name ? { sort_by: name, descending: null } : isDescending ? { sort_by: null, descending: null } : { descending: "true" });
  return (
    <div class="table-view">
      <header class="table-head">
        <h1 dir="auto">{info.name}</h1>
        <p class="muted">
          {plural(info.n_rows, "row")}, {plural(info.columns.length, "column")}
          {info.columns.length > MAX_COLUMNS ? `; ${MAX_COLUMNS} are shown` : ""}
        </p>
      </header>
      {info.warnings.map(({ message }) => (
        <p key={message} class="small muted">
          {message}
        </p>
      ))}
      <section class="card answer" aria-label="Answer" aria-busy={isSearching}>
        {isSearching ? (
          <Waiting text={members ? "Searching again …" : "Searching for rows like these …"} />
        ) : members ? (
          <Answer members={members} nRows={info.n_rows} audit={audit} />
        ) : (
          <p>Tick yes for a few rows of a group, and no for some that are not like them. Then find the rows like these.</p>
        )}
        <p class="toolbar">
          <button type="button" class="primary" disabled={nYes === 0 || nChanged === 0} onClick={apply}>
            {isAsked && nChanged > 0 ? `Apply ${plural(nChanged, "answer")}` : "Find rows like these"}
          </button>
          {isAsked || ticks.size > 0 ? (
            <button
              type="button"
              onClick={() => {
                setTicks(new Map());
                if (isAsked) change({ examples: null, not_examples: null, rows: null, judge: null });
              }}
            >
              Clear the ticks
            </button>
          ) : null}
          {members && !isSearching && drawn.length === 0 ? (
            <button type="button" onClick={judge}>
              Judge {N_JUDGED} rows
            </button>
          ) : null}
          {members && !isSearching ? (
            <a class="button" href={`${path}/members.csv?${question}`} download="">
              Table as CSV
            </a>
          ) : null}
          <span class="muted small" role="status">
            {ticks.size > 0 ? `${nYes} yes, ${ticks.size - nYes} no` : ""}
          </span>
        </p>
      </section>
      <div class="toolbar">
        <form
          class="filter"
          onSubmit={(event) => {
            event.preventDefault();
            const typed = new FormData(event.currentTarget).get("where");
            change({ where: String(typed).trim() || null });
          }}
        >
          <input key={params.get("where")} name="where" aria-label="Filter" placeholder={`Filter, such as ${exampleOf(info.columns)}`} defaultValue={params.get("where") ?? ""} />
        </form>
        {(isAsked && sortBy) || listed.length > 0 ? (
          <button type="button" onClick={() => change({ sort_by: null, descending: null, rows: null, judge: null })}>
            {isAsked ? "Most alike first" : "All rows"}
          </button>
        ) : null}
        <ColumnsUsed columns={info.columns} used={params.getAll("columns")} onChange={(names) => change({ columns: names })} />
      </div>
      <section class="card" aria-label="Rows" aria-busy={isLoading}>
        {page ? (
          <>
            <Rows columns={columns} rows={page.rows} ticks={ticks} isProbability={members?.answer.is_probability ?? true} sortBy={sortBy} isDescending={isDescending} onSort={sort} onTick={tick} />
            <p class="toolbar pager">
              <button type="button" disabled={skip === 0} onClick={() => onGo("table", withSkip(params, skip - N_ROWS))}>
                Previous
              </button>
              <button type="button" disabled={skip + N_ROWS >= page.n_matching} onClick={() => onGo("table", withSkip(params, skip + N_ROWS))}>
                Next
              </button>
              <span class="muted small" role="status">
                {page.n_matching === 0 ? "No row matches the filter." : `Rows ${whole(skip + 1)} to ${whole(Math.min(skip + N_ROWS, page.n_matching))} of ${whole(page.n_matching)}`}
              </span>
            </p>
          </>
        ) : (
          <Waiting text="Reading the rows …" />
        )}
      </section>
      <TablePlot path={path} columns={columns} members={members} onCircle={(rows) => rows.length > 0 && change({ rows: rows.map(String), judge: null, sort_by: null, descending: null, where: null })} isDate={(name) => info.columns.some((each) => each.name === name && each.kind === "date")} onError={onError} />
    </div>
  );
}

function Waiting({ text }: { text: string }) {
  return (
    <p class="waiting" role="status">
      <progress aria-label={text} /> {text}
    </p>
  );
}

/** One sentence, the check, and what sets the rows apart. */
function Answer({ members: { answer, warnings }, nRows, audit }: { members: Members; nRows: number; audit: AuditResult | null }) {
  const dropped = Object.entries(answer.dropped_columns);
  return (
    <>
      <h2>
        {answer.n_members === null ? `${whole(nRows)} rows, those most like yours first` : `About ${roughly(answer.n_members)} of ${plural(nRows, "row")} are like these`}
      </h2>
      {answer.check ? <p>{answer.check}</p> : null}
      {audit ? (
        <p class="judged">
          <Judged audit={audit} things="rows" />
        </p>
      ) : null}
      {warnings.map(({ message }) => (
        <p key={message} class="notes">
          {message}
        </p>
      ))}
      {answer.differences.length > 0 ? (
        <p class="muted">
          Set apart by{" "}
          {answer.differences
            .slice(0, N_DIFFERENCES)
            .map(({ column, members, others }) => `${column} (${averageOf(members)}, elsewhere ${averageOf(others)})`)
            .join("; ")}
          .
        </p>
      ) : null}
      {answer.missing.length > 0 ? <p class="muted">{answer.missing.join("; ")}</p> : null}
      {dropped.length > 0 ? (
        <details class="why small">
          <summary>{plural(dropped.length, "column")} not used</summary>
          {dropped.map(([name, reason]) => `${name}: ${reason}`).join("; ")}
        </details>
      ) : null}
    </>
  );
}

interface RowsProps {
  columns: TableColumn[];
  rows: TableRow[];
  ticks: Map<number, boolean>;
  isProbability: boolean;
  sortBy: string | null;
  isDescending: boolean;
  onSort: (name: string) => void;
  onTick: (row: number, isMember: boolean) => void;
}

function Rows({ columns, rows, ticks, isProbability, sortBy, isDescending, onSort, onTick }: RowsProps) {
  const hasMembership = rows.some(({ membership }) => membership !== null);
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => box.current?.scrollTo(0, 0), [rows[0]?.row, sortBy]);
  const isNumber = new Set(columns.filter(({ kind }) => kind === "number").map(({ name }) => name));
  const onKeyDown = (event: KeyboardEvent) => {
    const item = (event.target as HTMLElement).closest<HTMLElement>("[data-row]");
    if (!item || !["y", "n", "ArrowDown", "ArrowUp"].includes(event.key) || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    if (event.key === "y" || event.key === "n") onTick(Number(item.dataset.row), event.key === "y");
    const next = event.key === "ArrowUp" ? item.previousElementSibling : item.nextElementSibling;
    next?.querySelector<HTMLElement>("button")?.focus();
  };
  return (
    <div ref={box} class="wide" tabIndex={0} role="region" aria-label="Rows of the table" onKeyDown={onKeyDown}>
      <table>
        <thead>
          <tr>
            <th scope="col">Like these?</th>
            <th scope="col">Row</th>
            {hasMembership ? <th scope="col">{isProbability ? "Member" : "Rank"}</th> : null}
            {columns.map(({ name }) => (
              <th key={name} scope="col" class={isNumber.has(name) ? "number" : ""} aria-sort={sortBy === name ? (isDescending ? "descending" : "ascending") : undefined}>
                <button type="button" class="link" dir="auto" onClick={() => onSort(name)}>
                  {name}
                  {sortBy === name ? (isDescending ? " ▼" : " ▲") : ""}
                </button>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ row, membership, values }) => (
            <tr key={row} data-row={row}>
              <td class="marks">
                {[true, false].map((isMember) => {
                  const word = isMember ? "yes" : "no";
                  return (
                    <button key={word} type="button" class={word} aria-pressed={ticks.get(row) === isMember} aria-label={`${word}: row ${row}`} onClick={() => onTick(row, isMember)}>
                      {word}
                    </button>
                  );
                })}
              </td>
              <th scope="row" class="number">
                {row}
              </th>
              {membership === null ? null : <td class="number">{isProbability ? chanceOf(membership) : `top ${percent(Math.max(1 - membership, 0.001))}`}</td>}
              {columns.map(({ name }) => (
                <td key={name} class={isNumber.has(name) ? "number" : ""} dir="auto">
                  {shown(values[name])}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function ColumnsUsed({ columns, used, onChange }: { columns: TableColumn[]; used: string[]; onChange: (names: string[]) => void }) {
  const usable = columns.filter(({ kind }) => !UNUSABLE.includes(kind)).map(({ name }) => name);
  const [chosen, setChosen] = useState(used.length > 0 ? used : usable);
  return (
    <details class="columns-used">
      <summary>Columns used{used.length > 0 ? ` (${used.length} of ${usable.length})` : ""}</summary>
      <div class="boxes">
        {usable.map((name) => (
          <label key={name}>
            <input type="checkbox" checked={chosen.includes(name)} onChange={() => setChosen(usable.filter((each) => (each === name) !== chosen.includes(each)))} />
            <span dir="auto">{name}</span>
          </label>
        ))}
      </div>
      <button type="button" disabled={chosen.length === 0} onClick={() => onChange(chosen.length === usable.length ? [] : chosen)}>
        Use these columns
      </button>
    </details>
  );
}

function ticksOf(params: URLSearchParams): Map<number, boolean> {
  const rows = (name: string, isMember: boolean) => params.getAll(name).map((text): [number, boolean] => [Number(text), isMember]);
  return new Map([...rows("examples", true), ...rows("not_examples", false)]);
}

function withSkip(params: URLSearchParams, skip: number): URLSearchParams {
  const next = new URLSearchParams(params);
  if (skip > 0) next.set("skip", String(skip));
  else next.delete("skip");
  return next;
}

function exampleOf(columns: TableColumn[]): string {
  const column = columns.find(({ kind, name }) => kind === "number" && /^[a-z_]\w*$/i.test(name));
  return column ? `${column.name} >= 3` : 'city = "Oslo"';
}
