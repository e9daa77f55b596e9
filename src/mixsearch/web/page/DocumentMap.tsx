// All documents in the plane: those of the topics in their colours, the others grey. Circle some to add a topic.

import { useEffect, useRef, useState } from "preact/hooks";
import { fetchMap, fetchMemberships, shared } from "./api";
import { keyOf, type Chip } from "./state";
import type { MapLabel, MapPoints } from "./types";
import { useLasso } from "./useLasso";
import { useTheme } from "./useTheme";
import { useWidth } from "./useWidth";

const [COLUMNS, ROWS] = [640, 320]; // places on the map
const MAX_MARKED = 50;
const HEIGHT = 380;

interface Props {
  index: string;
  generation: string;
  chips: Chip[];
  where: string; // a condition on the documents that are coloured
  onCircle: (rows: number[]) => void;
  onOpen: (row: number) => void;
  onError: (error: unknown) => void;
}

export function DocumentMap({ index, generation, chips, where, onCircle, onOpen, onError }: Props) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [points, setPoints] = useState<MapPoints | null>(null);
  const [members, setMembers] = useState<Uint8Array[]>([]);
  const known = useRef(new Map<string, Uint8Array>()); // memberships by the state of the index and the topic
  const wanted = chips.map((chip) => (where && !shared ? `${keyOf(chip)}&${new URLSearchParams({ where })}` : keyOf(chip)));

  useEffect(() => {
    setPoints(null);
    fetchMap(index).then(setPoints, onError);
  }, [index, generation]);

  useEffect(() => {
    const show = () => setMembers(wanted.map((key) => known.current.get(`${generation} ${key}`) ?? new Uint8Array()));
    const missing = wanted.filter((key) => !known.current.has(`${generation} ${key}`));
    show();
    if (missing.length === 0) return undefined;
    const controller = new AbortController();
    const keep = (key: string, membership: Uint8Array | undefined) => {
      if (membership) known.current.set(`${generation} ${key}`, membership);
    };
    fetchMemberships(index, missing, controller.signal)
      .then((fetched) => missing.forEach((key, i) => keep(key, fetched[i])))
      // One of them may not be found, which the panel says: the others are shown.
      .catch(() => Promise.allSettled(missing.map(async (key) => keep(key, (await fetchMemberships(index, [key], controller.signal))[0]))))
      .then(() => controller.signal.aborted || show());
    return () => controller.abort();
  }, [index, generation, wanted.join("\n")]);

  const width = useWidth(canvas);
  const theme = useTheme();
  useEffect(() => {
    if (canvas.current && points && width > 0) paint(canvas.current, points, members);
  }, [points, members, width, theme]);

  const [listeners, line] = useLasso(
    (isInside) => {
      const rows = points && !shared ? rowsInside(points, isInside, width) : [];
      if (rows.length > 0) onCircle(rows);
    },
    ([left, top]) => {
      const nearest = points && nearestTo(points, left, top, width);
      if (nearest !== null) onOpen(nearest);
    },
  );
  return (
    <section class="card map" aria-labelledby="map-title">
      <h2 id="map-title">Map of the documents</h2>
      <p class="muted small">
        Near each other: about the same. {shared ? "" : "Draw a line around some to add them as a topic; click one to read it."}
      </p>
      <div class="plane">
        {points === null ? (
          <p class="waiting" role="status">
            <progress aria-label="Placing the documents" /> Placing the documents …
          </p>
        ) : null}
        <canvas ref={canvas} role="img" aria-label={`Map of ${points?.rows.length ?? 0} documents; those of the topics are coloured.`} {...listeners} />
        {line}
      </div>
    </section>
  );
}

/** Draw all points and the labels. */
function paint(canvas: HTMLCanvasElement, { x, y, labels }: MapPoints, members: Uint8Array[]): void {
  const ratio = window.devicePixelRatio || 1;
  const [width, height] = [canvas.clientWidth, canvas.clientHeight];
  canvas.width = width * ratio;
  canvas.height = height * ratio;
  const context = canvas.getContext("2d");
  if (!context) return;
  context.scale(ratio, ratio);
  const style = getComputedStyle(canvas);
  const colors = Array.from({ length: 8 }, (_, i) => style.getPropertyValue(`--c${i}`));
  const size = x.length > 20_000 ? 1.5 : x.length > 4_000 ? 2 : 3;
  const draw = (color: string, isShown: (i: number) => boolean) => {
    context.fillStyle = color;
    for (let i = 0; i < x.length; i++) {
      if (isShown(i)) context.fillRect(((x[i] ?? 0) / COLUMNS) * width, ((y[i] ?? 0) / ROWS) * height, size, size);
    }
  };
  draw(style.getPropertyValue("--dots"), () => true);
  members.forEach((bits, j) => draw(colors[j % 8] ?? "", (i) => (((bits[i >> 3] ?? 0) >> (i & 7)) & 1) === 1));
  context.font = `600 12px ${style.fontFamily}`;
  context.textAlign = "center";
  context.lineWidth = 4;
  context.strokeStyle = style.getPropertyValue("--card");
  context.fillStyle = style.getPropertyValue("--ink");
  for (const { word, x: left, y: top } of apart(labels, width, height)) {
    context.strokeText(word, left, top);
    context.fillText(word, left, top);
  }
  canvas.dataset.drawn = "";
}

/** The labels that do not cover each other, those of larger topics first, in pixels. */
function apart(labels: MapLabel[], width: number, height: number): MapLabel[] {
  const placed: MapLabel[] = [];
  for (const { word, x, y } of labels) {
    const half = 4 * word.length + 2; // about, in pixels
    const label = { word, x: Math.min(Math.max(x * width, half), width - half), y: Math.min(Math.max(y * height, 14), height - 6) };
    const room = (other: MapLabel) => Math.abs(other.y - label.y) > 18 || Math.abs(other.x - label.x) > 4 * (other.word.length + word.length) + 8;
    if (placed.every(room)) placed.push(label);
  }
  return placed;
}

function nearestTo({ rows, x, y }: MapPoints, left: number, top: number, width: number): number | null {
  let [best, nearest] = [100, -1]; // squared pixels
  for (let i = 0; i < rows.length; i++) {
    const distance = (((x[i] ?? 0) / COLUMNS) * width - left) ** 2 + (((y[i] ?? 0) / ROWS) * HEIGHT - top) ** 2;
    if (distance < best) [best, nearest] = [distance, i];
  }
  return nearest < 0 ? null : (rows[nearest] ?? null);
}

/** The rows inside of a line, at even steps if they are many. */
function rowsInside({ rows, x, y }: MapPoints, isInside: (left: number, top: number) => boolean, width: number): number[] {
  const inside = [...rows].filter((_, i) => isInside(((x[i] ?? 0) / COLUMNS) * width, ((y[i] ?? 0) / ROWS) * HEIGHT));
  const step = Math.ceil(inside.length / MAX_MARKED);
  return inside.filter((_, i) => i % step === 0);
}
