// Rows in the plane of two columns, with the members coloured.

import { useEffect, useRef, useState } from "preact/hooks";
import type { Members, TableColumn } from "./TableView";
import { useAnswer } from "./useAnswer";
import { numberOf } from "./values";

const HEIGHT = 300;
const MARGIN = 10;
const DAY = 86_400_000;

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
  onError: (error: unknown) => void;
}

export function TablePlot({ path, columns, members, isDate, onError }: Props) {
  const names = columns.filter(({ kind }) => kind === "number" || kind === "date").map(({ name }) => name);
  const [axes, setAxes] = useState<[string | null, string | null]>([null, null]);
  const x = axes[0] ?? names.find((name) => name !== axes[1]);
  const y = axes[1] ?? names.find((name) => name !== x);
  const [points] = useAnswer<Points>(x && y ? `${path}/points?${new URLSearchParams({ x, y })}` : null, onError);
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    const draw = () => canvas.current && points && paint(canvas.current, points, members?.is_member ?? []);
    draw();
    const themes = new MutationObserver(draw);
    themes.observe(document.documentElement, { attributes: true });
    const dark = matchMedia("(prefers-color-scheme: dark)");
    addEventListener("resize", draw);
    dark.addEventListener("change", draw);
    return () => {
      themes.disconnect();
      removeEventListener("resize", draw);
      dark.removeEventListener("change", draw);
    };
  }, [points, members]);
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
      <canvas ref={canvas} role="img" aria-label={`Rows by ${x} and ${y}${members ? "; members are coloured" : ""}.`} style={{ height: `${HEIGHT}px` }} />
      <p class="small muted">
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

function paint(canvas: HTMLCanvasElement, { x, y }: Points, isMember: boolean[]): void {
  const ratio = window.devicePixelRatio || 1;
  const [width, height] = [canvas.clientWidth, canvas.clientHeight];
  canvas.width = width * ratio;
  canvas.height = height * ratio;
  const context = canvas.getContext("2d");
  if (!context) return;
  context.scale(ratio, ratio);
  const style = getComputedStyle(canvas);
  const place = (values: (number | null)[], room: number) => {
    const [low, high] = rangeOf(values);
    return (value: number) => MARGIN + ((value - low) / (high - low || 1)) * (room - 2 * MARGIN);
  };
  const [left, up] = [place(x, width), place(y, height)];
  const size = x.length > 4_000 ? 2 : 4;
  const draw = (color: string, isShown: (i: number) => boolean) => {
    context.fillStyle = style.getPropertyValue(color);
    x.forEach((value, i) => {
      const other = y[i] ?? null;
      if (value !== null && other !== null && isShown(i)) context.fillRect(left(value) - size / 2, height - up(other) - size / 2, size, size);
    });
  };
  draw("--dots", () => true);
  draw("--c0", (i) => isMember[i] ?? false);
}
