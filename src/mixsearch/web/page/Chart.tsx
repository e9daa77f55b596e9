// One chart for all topics: shares over time as lines, by group as bars.

import { useRef, useState } from "preact/hooks";
import { percent, plural, whole } from "./format";
import type { Selection } from "./state";
import type { Group, Groups } from "./types";
import { useWidth } from "./useWidth";

const HEIGHT = 280;
const EDGE = { left: 46, top: 12, bottom: 26 };
const LETTER = 7.5; // width of a letter of the labels
const MAX_NAME = 22;
const NUMBER_WIDTH = 60; // beside the name, in pixels
const MAX_BARS = 20;
const N_TICKS = 4;
const SIZES = 44; // pixels of the largest number of documents
const MIN_DOCUMENTS = 10; // of a first or last period that is drawn, and a part of the largest period
const MIN_PERIOD = 0.02;
const MAX_BAND = 2; // times the highest point of a line; a band beyond is cut off
const MIN_PART = 0.1; // of the mean number of documents, below which a group does not set the scale

interface Props {
  groups: Groups;
  title: string; // of the index
  names: string[];
  audited: (Groups | null)[]; // with intervals, for a topic of which documents were judged
  selection: Selection | null;
  onSelect: (label: string | null) => void;
}

export function Chart({ groups: given, title, names, audited, selection, onSelect }: Props) {
  const all = { ...given, topics: given.topics.map((topic, i) => withIntervals(topic, audited[i]?.topics[0] ?? null)) };
  const groups = all.over === null ? all : trim(all);
  const isOrdered = groups.over !== null;
  const column = groups.over ?? groups.by ?? "";
  const missing = groups.n_missing > 0 ? ` ${plural(groups.n_missing, "document has", "documents have")} no ${column}.` : "";
  return (
    <section class="card chart" aria-labelledby="chart-title">
      <h2 id="chart-title">
        How much of {title} is about {names.length > 1 ? "each topic" : (names[0] ?? "it")}, by {column}
      </h2>
      <p class="muted small">
        Share of the documents{isOrdered ? "; grey: how many there are" : ""}
        {audited.some(Boolean) ? "; the band is a 95% interval from judged documents" : ""}. {isOrdered ? "Click a period for its documents." : "Click a group for its documents."}
        {missing}
      </p>
      {isOrdered ? (
        <Lines groups={groups} names={names} selection={selection} onSelect={onSelect} />
      ) : (
        <Bars groups={groups} names={names} selection={selection} onSelect={onSelect} />
      )}
    </section>
  );
}

function Lines({ groups, names, selection, onSelect }: Omit<Props, "audited" | "title">) {
  const frame = useRef<HTMLDivElement>(null);
  const width = useWidth(frame);
  const [hovered, setHovered] = useState<number | null>(null);
  const labels = groups.topics[0]?.groups.map(({ label }) => label) ?? [];
  const longest = Math.min(Math.max(...names.map(({ length }) => length), 4), MAX_NAME);
  const right = Math.min(longest * LETTER + NUMBER_WIDTH, 0.4 * width);
  const fitting = Math.max(Math.floor((right - NUMBER_WIDTH) / LETTER), 1);
  const shown = names.map((name) => (name.length > fitting ? `${name.slice(0, fitting - 1)}…` : name));
  const inner = Math.max(width - EDGE.left - right, 1);
  const tall = HEIGHT - EDGE.top - EDGE.bottom;
  const top = scaleOf(groups);
  const sizes = groups.topics[0]?.groups.map(({ n_documents: n }) => n) ?? [];
  const [largest, bar] = [Math.max(...sizes, 1), (0.7 * inner) / labels.length];
  const x = (i: number) => EDGE.left + (inner * (i + 0.5)) / labels.length;
  const y = (share: number) => EDGE.top + tall * (1 - Math.min(share / top, 1));
  const step = Math.max(Math.ceil((labels.length * (Math.max(...labels.map(({ length }) => length), 1) * LETTER + 12)) / inner), 1);
  const chosen = hovered ?? (selection ? labels.indexOf(selection.label) : -1);
  const lasts = groups.topics.map(({ groups: of }) => of.reduce((last, { share }, i) => (share === null ? last : i), -1));
  const ends = spread(groups.topics.map(({ groups: of }, i) => y(of[lasts[i] ?? -1]?.share ?? 0)), EDGE.top, HEIGHT - EDGE.bottom);
  const find = (event: MouseEvent) => {
    const box = frame.current?.getBoundingClientRect();
    if (!box) return null;
    const i = Math.floor(((event.clientX - box.left - EDGE.left) / inner) * labels.length);
    return i >= 0 && i < labels.length ? i : null;
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const steps: Record<string, number> = { ArrowLeft: -1, ArrowRight: 1 };
    const move = steps[event.key];
    if (move !== undefined) {
      event.preventDefault();
      setHovered(Math.min(Math.max((chosen < 0 ? labels.length : chosen) + move, 0), labels.length - 1));
    } else if (event.key === "Enter" && chosen >= 0) {
      onSelect(selection?.label === labels[chosen] ? null : (labels[chosen] ?? null));
    }
  };
  return (
    <div
      ref={frame}
      class="lines"
      role="application"
      aria-label="Chart over time. Left and right arrows read periods, Enter lists their documents."
      tabIndex={0}
      onMouseMove={(event) => setHovered(find(event))}
      onMouseLeave={() => setHovered(null)}
      onBlur={() => setHovered(null)}
      onKeyDown={onKeyDown}
      onClick={(event) => {
        const i = find(event);
        if (i !== null) onSelect(selection?.label === labels[i] ? null : (labels[i] ?? null));
      }}
    >
      {width === 0 ? null : (
        <svg width={width} height={HEIGHT} viewBox={`0 0 ${width} ${HEIGHT}`} aria-hidden="true">
          {Array.from({ length: N_TICKS + 1 }, (_, i) => (top * i) / N_TICKS).map((tick) => (
            <g key={tick}>
              <line class="grid" x1={EDGE.left} x2={width - right} y1={y(tick)} y2={y(tick)} />
              <text class="tick end" x={EDGE.left - 8} y={y(tick) + 4}>
                {top < 0.04 ? `${(100 * tick).toFixed(1)}%` : `${Math.round(100 * tick)}%`}
              </text>
            </g>
          ))}
          {labels.map((label, i) =>
            i % step === 0 ? (
              <text key={label} class="tick middle" x={x(i)} y={HEIGHT - 8}>
                {label}
              </text>
            ) : null,
          )}
          {sizes.map((n, i) => (
            <rect key={i} class="size" x={x(i) - bar / 2} width={bar} y={y(0) - (SIZES * n) / largest} height={(SIZES * n) / largest} />
          ))}
          {chosen >= 0 ? <line class="cursor" x1={x(chosen)} x2={x(chosen)} y1={EDGE.top} y2={HEIGHT - EDGE.bottom} /> : null}
          {groups.topics.map((topic, i) => (
            <g key={i} class={`series c${i % 8}`}>
              {runsOf(topic.groups).map((run) => (
                <polygon key={run[0]} class="band" points={bandOf(topic.groups, run, x, y)} />
              ))}
              {runsOf(topic.groups).map((run) => (
                <polyline key={run[0]} class="stroke" points={run.map((j) => `${x(j)},${y(topic.groups[j]?.share ?? 0)}`).join(" ")} />
              ))}
              {topic.groups.map(({ share }, j) =>
                share !== null && (j === chosen || labels.length <= 40) ? <circle key={j} class="dot" cx={x(j)} cy={y(share)} r={j === chosen ? 5 : 2.5} /> : null,
              )}
              <text class="name" x={width - right + 8} y={(ends[i] ?? 0) + 4}>
                {shown[i]} {percent(topic.groups[lasts[i] ?? -1]?.share ?? 0)}
              </text>
            </g>
          ))}
        </svg>
      )}
      <p class="readout" role="status">
        {chosen >= 0 ? describe(groups, names, chosen) : ""}
      </p>
    </div>
  );
}

/** Say what the topics are in a group. */
function describe(groups: Groups, names: string[], i: number): string {
  const group = groups.topics[0]?.groups[i];
  if (!group) return "";
  if (group.n_documents === 0) return `${group.label}: no documents.`;
  const shares = groups.topics.map((topic, j) => {
    const { share = 0, n_members = 0, low = null, high = null } = topic.groups[i] ?? {};
    const range = low === null || high === null ? `about ${whole(n_members)}` : `${percent(low)} to ${percent(high)}`;
    return `${names[j]} ${percent(share ?? 0)} (${range})`;
  });
  return `${group.label}: ${shares.join(", ")} of ${plural(group.n_documents, "document")}.`;
}

function Bars({ groups, names, selection, onSelect }: Omit<Props, "audited" | "title">) {
  const all = groups.topics[0]?.groups ?? [];
  const order = all.map((_, i) => i).filter((i) => (all[i]?.n_documents ?? 0) > 0);
  const total = (i: number) => groups.topics.reduce((sum, topic) => sum + (topic.groups[i]?.share ?? 0), 0);
  if (groups.kind === "category") order.sort((a, b) => total(b) - total(a));
  const top = Math.max(...groups.topics.flatMap((topic) => topic.groups.map(({ share }) => share ?? 0)), 1e-9);
  return (
    <>
      <ol class="bars">
        {order.slice(0, MAX_BARS).map((i) => {
          const { label, n_documents: n } = all[i] as Group;
          return (
            <li key={label}>
              <button
                type="button"
                class="group"
                dir="auto"
                aria-pressed={selection?.label === label}
                title={`${plural(n, "document")}: ${describe(groups, names, i)}`}
                onClick={() => onSelect(selection?.label === label ? null : label)}
              >
                {label}
              </button>
              <span class="rows">
                {groups.topics.map((topic, j) => {
                  const group = topic.groups[i];
                  const share = group?.share ?? 0;
                  return (
                    <span key={j} class={`row c${j % 8}`}>
                      <i style={{ width: `${(100 * share) / top}%` }} />
                      <span>
                        {percent(share)}
                        {group && group.low !== null && group.high !== null ? ` (${percent(group.low)} to ${percent(group.high)})` : ""}
                      </span>
                    </span>
                  );
                })}
              </span>
            </li>
          );
        })}
      </ol>
      {order.length > MAX_BARS ? <p class="muted small">The {MAX_BARS} groups with the largest shares, of {order.length}.</p> : null}
    </>
  );
}

/** Replace the shares of a topic by those that judged documents tell, where they do. */
function withIntervals(topic: Groups["topics"][0], judged: Groups["topics"][0] | null): Groups["topics"][0] {
  if (judged?.groups.length !== topic.groups.length) return topic;
  return { ...topic, groups: judged.groups.map((group) => ({ ...group, share: group.estimate ?? group.share })) };
}

/** The corners of the band between the ends of the intervals, where there are any. */
function bandOf(groups: Group[], run: number[], x: (i: number) => number, y: (share: number) => number): string {
  const known = run.filter((i) => groups[i]?.low != null && groups[i]?.high != null);
  const edge = (end: "low" | "high") => known.map((i) => `${x(i)},${y(groups[i]?.[end] ?? 0)}`);
  return [...edge("low"), ...edge("high").reverse()].join(" ");
}

/** Leave out the first and the last periods, in which there is hardly a document. */
function trim(groups: Groups): Groups {
  const sizes = groups.topics[0]?.groups.map(({ n_documents: n }) => n) ?? [];
  const least = Math.max(MIN_DOCUMENTS, MIN_PERIOD * Math.max(...sizes, 0));
  const isLarge = (n: number) => n >= Math.min(least, Math.max(...sizes, 0));
  const [start, end] = [Math.max(sizes.findIndex(isLarge), 0), sizes.findLastIndex(isLarge) + 1];
  const topics = groups.topics.map((topic) => ({ ...topic, groups: topic.groups.slice(start, end) }));
  return { ...groups, topics, starts: groups.starts?.slice(start, end) ?? null };
}

/** The upper end of the scale: a round share above those of all groups that are not tiny. */
function scaleOf({ topics }: Groups): number {
  const sizes = topics[0]?.groups.map(({ n_documents: n }) => n) ?? [];
  const mean = sizes.reduce((sum, n) => sum + n, 0) / Math.max(sizes.length, 1);
  const large = topics.flatMap(({ groups }) => groups.filter(({ n_documents: n }) => n >= MIN_PART * mean));
  const line = Math.max(...large.map(({ share }) => share ?? 0), 1e-4);
  const largest = Math.max(line, Math.min(MAX_BAND * line, ...large.map(({ high }) => high ?? 0).sort((a, b) => b - a).slice(0, 1)));
  const unit = 10 ** Math.floor(Math.log10(largest));
  return Math.min([1, 1.2, 1.6, 2, 2.4, 3.2, 4, 6, 8, 10].map((factor) => factor * unit).find((end) => end >= largest) ?? largest, 1);
}

/** The indices of groups with documents, split where groups without any are. */
function runsOf(groups: Group[]): number[][] {
  const runs: number[][] = [[]];
  groups.forEach(({ share }, i) => {
    if (share === null) runs.push([]);
    else runs[runs.length - 1]?.push(i);
  });
  return runs.filter((run) => run.length > 0);
}

/** Move labels apart that would cover each other. */
function spread(heights: number[], top: number, bottom: number, gap = 16): number[] {
  const order = heights.map((_, i) => i).sort((a, b) => (heights[a] ?? 0) - (heights[b] ?? 0));
  const placed = [...heights];
  let last = top - gap;
  for (const i of order) placed[i] = last = Math.max(placed[i] ?? 0, last + gap);
  last = bottom + gap;
  for (const i of order.reverse()) placed[i] = last = Math.min(placed[i] ?? 0, last - gap);
  return placed;
}
