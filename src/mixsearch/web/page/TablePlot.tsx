// Rows in the plane of two columns, with the members coloured.

import { useEffect, useRef, useState } from "preact/hooks";
import type { Members, TableColumn } from "./TableView";
import { useAnswer } from "./useAnswer";
import { useLasso, type Place } from "./useLasso";
import { useTheme } from "./useTheme";
import { useWidth } from "./useWidth";
import { numberOf } from "./values";

const HEIGHT = 300;
const MARGIN = 10;
const DAY = 86_400_000;
const MAX_CIRCLED = 200; // rows that are listed

interface Points {
  rows: number[];
  x: (number | null)[];
  y: (number | null)[];
}

interface Props {
  path: string;
  columns: TableColumn[]; // those that distinguish members first
  members: Members | null;
  isDate: (name: string) => boolean;
  onCircle: (rows: number[]) => void;
  onError: (error: unknown) => void;
}

export function TablePlot({ path, columns, members, isDate, onCircle, onError }: Props) {
  const names = columns.filter(({ kind }) => kind === "number" || kind === "date").map(({ name }) => name);
  const [axes, setAxes] = useState<[string | null, string | null]>([null, null]);
  const x = axes[0] ?? names.find((name) => name !== axes[1]);
  const y = axes[1] ?? names.find((name) => name !== x);
  const [points] = useAnswer<Points>(x && y ? `${path}/points?${new URLSearchParams({ x, y })}` : null, onError);
  const canvas = useRef<HTMLCanvasElement>(null);
  const [theme, width] = [useTheme(), useWidth(canvas)];
  useEffect(() => {
    if (canvas.current && points && width > 0) paint(canvas.current, points, members?.is_member ?? []);
  }, [points, members, width, theme]);
  const [listeners, line] = useLasso(
    (isInside) => {
      const places = canvas.current && points ? placesOf(canvas.current, points) : [];
      onCircle((points?.rows ?? []).filter((_, i) => places[i] && isInside(...places[i])).slice(0, MAX_CIRCLED));
    },
    () => {},
  );
  if (!x || !y) return null;
  const menu = (label: string, value: string, onChange: (name: string) => void) => (
    <label>
      {label}{" "}
      <select value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        {names.map((name) => (
          <option key={name}>{name}</option>
        ))}
      </select>
    </label>
  );
  const range = (name: string, values: (number | null)[] = []) => {
    const [low, high] = rangeOf(values);
    const show = (value: number) => (isDate(name) ? new Date(value * DAY).toISOString().slice(0, 10) : numberOf(value));
    return low <= high ? `${name}: ${show(low)} to ${show(high)}` : name;
  };
  return (
    <section class="card table-plot" aria-labelledby="plot-title">
      <div class="toolbar">
        <h2 id="plot-title">{members ? "Members among all rows" : "Rows"}</h2>
        {menu("x", x, (name) => setAxes([name, y]))}
        {menu("y", y, (name) => setAxes([x, name]))}
      </div>
      <div class="plane">
        <canvas ref={canvas} role="img" aria-label={`Rows by ${x} and ${y}${members ? "; members are coloured" : ""}.`} style={{ height: `${HEIGHT}px` }} {...listeners} />
        {line}
      </div>
      <p class="small muted">
        Draw a line around some rows to see them in the table.{" "}
        x, {range(x, points?.x)}. y, {range(y, points?.y)}.
      </p>
    </section>
  );
}

function rangeOf(values: (number | null)[]): [number, number] {
  let [low, high] = [Infinity, -Infinity];
  for (const value of values) {
    if (value !== null) [low, high] = [Math.min(low, value), Math.max(high, value)];
  }
  return [low, high];
}

function paint(canvas: HTMLCanvasElement, points: Points, isMember: boolean[]): void {
  const ratio = window.devicePixelRatio || 1;
  const [width, height] = [canvas.clientWidth, canvas.clientHeight];
  canvas.width = width * ratio;
  canvas.height = height * ratio;
  const context = canvas.getContext("2d");
  if (!context) return;
  context.scale(ratio, ratio);
  const style = getComputedStyle(canvas);
  const places = placesOf(canvas, points);
  const size = places.length > 4_000 ? 2 : 4;
  const draw = (color: string, isShown: (i: number) => boolean) => {
    context.fillStyle = style.getPropertyValue(color);
    places.forEach((place, i) => {
      if (place && isShown(i)) context.fillRect(place[0] - size / 2, place[1] - size / 2, size, size);
    });
  };
  draw("--dots", () => true);
  draw("--c0", (i) => isMember[i] ?? false);
}

/** Where the rows are in pixels; null without one of the two values. */
function placesOf({ clientWidth: width, clientHeight: height }: HTMLCanvasElement, { x, y }: Points): (Place | null)[] {
  const scale = (values: (number | null)[], room: number) => {
    const [low, high] = rangeOf(values);
    return (value: number) => MARGIN + ((value - low) / (high - low || 1)) * (room - 2 * MARGIN);
  };
  const [right, up] = [scale(x, width), scale(y, height)];
  return x.map((value, i) => {
    const other = y[i] ?? null;
    return value === null || other === null ? null : [right(value), height - up(other)];
  });
}
