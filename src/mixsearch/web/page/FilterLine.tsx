// What is counted: the index, a filter, and the column of the chart; and what is done with the search.

import { useEffect, useState } from "preact/hooks";
import { csvAddress, fetchSaved, putSaved, shareAddress, shared } from "./api";
import { whole } from "./format";
import { nameOf, quoteColumn, type Chip, type State, writeState } from "./state";
import type { Column, Groups, IndexInfo, SavedSearch } from "./types";

const GROUPED = ["date", "category", "number"];

interface Props {
  indexes: IndexInfo[];
  info: IndexInfo;
  state: State;
  groups: Groups | null; // of the chart
  where: string; // the filter and the group that is selected
  chip: Chip | null;
  onChange: (change: Partial<State>) => void;
  onOpen: (state: string) => void;
  onError: (error: unknown) => void;
}

/** The columns whose values make groups. */
export function columnsOf(info: IndexInfo): Column[] {
  return GROUPED.flatMap((role) => info.columns.filter((column) => column.role === role));
}

/** The column of the chart, unless another one was chosen. */
export function columnOf(info: IndexInfo): string | null {
  return info.over ?? info.by ?? columnsOf(info)[0]?.name ?? null;
}

export function FilterLine({ indexes, info, state, groups, where, chip, onChange, onOpen, onError }: Props) {
  const [filter, setFilter] = useState(state.filter);
  useEffect(() => setFilter(state.filter), [state.filter]);
  const columns = columnsOf(info);
  const by = state.by ?? columnOf(info) ?? "";
  const labels = groups?.topics[0]?.groups.filter(({ n_documents: n }) => n > 0).map(({ label }) => label) ?? [];

  return (
    <div class="filter-line">
      <p>
        {indexes.length > 1 ? (
          <select
            aria-label="Index"
            value={info.name}
            onChange={(event) => onChange({ index: event.currentTarget.value, chips: [], group: null, filter: "", by: null, selected: 0 })}
          >
            {indexes.map(({ name }) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        ) : (
          <b>{info.name}</b>
        )}{" "}
        · {whole(info.n_documents)} documents
      </p>
      {columns.length > 0 ? (
        <select
          aria-label={`Only one ${by}`}
          class={state.group ? "is-set" : ""}
          value={state.group?.label ?? ""}
          onChange={(event) => onChange({ group: event.currentTarget.value === "" ? null : { column: by, label: event.currentTarget.value } })}
        >
          <option value="">any {by}</option>
          {labels.map((label) => (
            <option key={label} value={label}>
              {label}
            </option>
          ))}
        </select>
      ) : null}
      {columns.length > 0 ? (
        <label>
          by{" "}
          <select aria-label="Column of the chart" value={by} onChange={(event) => onChange({ by: event.currentTarget.value, group: null })}>
            {columns.map(({ name }) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
      ) : null}
      {shared ? null : (
        <form
          class="filter"
          onSubmit={(event) => {
            event.preventDefault();
            onChange({ filter: filter.trim(), group: null });
          }}
        >
          <input
            type="text"
            aria-label="Filter of the documents"
            placeholder={columns.length > 0 ? `only documents with … (${exampleOf(columns)})` : "no columns to filter by"}
            disabled={columns.length === 0}
            value={filter}
            onInput={(event) => setFilter(event.currentTarget.value)}
          />
        </form>
      )}
      {shared ? null : <Actions info={info} state={state} where={where} chip={chip} onOpen={onOpen} onError={onError} />}
    </div>
  );
}

function exampleOf(columns: Column[]): string {
  const column = columns[0];
  if (column === undefined) return "";
  const name = quoteColumn(column.name);
  if (column.role === "category") return `${name} = "…"`;
  return column.role === "date" ? `${name} >= ${column.kind.includes("int") ? "2024" : "2024-01-01"}` : `${name} <= 2`;
}

function Actions({ info, state, where, chip, onOpen, onError }: Pick<Props, "info" | "state" | "where" | "chip" | "onOpen" | "onError">) {
  const [saved, setSaved] = useState<SavedSearch[]>([]);
  const address = writeState(state);
  useEffect(() => {
    fetchSaved(info.name).then(setSaved, () => setSaved([]));
  }, [info.name]);

  const store = (changed: SavedSearch[]) => {
    setSaved(changed);
    putSaved(info.name, changed).catch(onError);
  };
  const isSaved = saved.some((search) => search.state === address);
  const toggle = () =>
    store(isSaved ? saved.filter((search) => search.state !== address) : [...saved, { name: state.chips.map(nameOf).join(", "), state: address }]);
  if (chip === null && saved.length === 0) return null;
  return (
    <div class="actions">
      {saved.length > 0 ? (
        <select
          aria-label="Saved searches"
          value=""
          onChange={(event) => {
            if (event.currentTarget.value) onOpen(event.currentTarget.value);
            event.currentTarget.value = "";
          }}
        >
          <option value="">Saved</option>
          {saved.map((search) => (
            <option key={search.state} value={search.state}>
              {search.name}
            </option>
          ))}
        </select>
      ) : null}
      {chip === null ? null : (
        <>
          <button type="button" aria-pressed={isSaved} onClick={toggle}>
            {isSaved ? "Forget" : "Save"}
          </button>
          <a class="button" href={shareAddress(info.name, address)} download title="One file that opens offline, to send around">
            Share as HTML
          </a>
          <a class="button" href={csvAddress(info.name, chip, where)} download title="All documents with their membership">
            Documents as CSV
          </a>
        </>
      )}
    </div>
  );
}
