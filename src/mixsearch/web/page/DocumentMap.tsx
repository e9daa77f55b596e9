// All documents in the plane: those of the topics in their colours, the others grey. Circle some to add a topic.

import { useEffect, useRef, useState } from "preact/hooks";
import { fetchMap, fetchMemberships, shared } from "./api";
import { keyOf, type Chip } from "./state";
import type { MapLabel, MapPoints } from "./types";

const LARGEST = 65535;
const IS_MEMBER = 128; // of 255
const MAX_MARKED = 50;
const HEIGHT = 380;
const MIN_CIRCLE = 6; // points of a line that is drawn around documents

interface Props {
  index: string;
  generation: string;
  chips: Chip[];
  where: string; // a condition on the documents that are coloured
  onCircle: (rows: number[]) => void;
  onOpen: (row: number) => void;
  onError: (error: unknown) => void;
}

type Place = [number, number];

export function DocumentMap({ index, generation, chips, where, onCircle, onOpen, onError }: Props) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [points, setPoints] = useState<MapPoints | null>(null);
  const [members, setMembers] = useState<Uint8Array[]>([]);
  const known = useRef(new Map<string, Uint8Array>()); // memberships by the state of the index and the topic
  const [width, setWidth] = useState(0);
  const [circle, setCircle] = useState<Place[]>([]);
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

  useEffect(() => {
    if (!canvas.current) return undefined;
    const observer = new ResizeObserver(([entry]) => setWidth(Math.round(entry?.contentRect.width ?? 0)));
    observer.observe(canvas.current);
    return () => observer.disconnect();
  }, []);

  const theme = useTheme();
  useEffect(() => {
    if (canvas.current && points && width > 0) paint(canvas.current, points, members);
  }, [points, members, width, theme]);

  const placeOf = (event: PointerEvent): Place => {
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  const finish = (event: PointerEvent) => {
    const [x, y] = placeOf(event);
    const drawn = circle;
    setCircle([]);
    if (!points || drawn.length === 0) return;
    if (drawn.length < MIN_CIRCLE) {
      const nearest = nearestTo(points, x, y, width);
      if (nearest !== null) onOpen(nearest);
    } else if (!shared) {
      const rows = rowsInside(points, drawn, width);
      if (rows.length > 0) onCircle(rows);
    }
  };
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
        <canvas
        ref={canvas}
        role="img"
        aria-label={`Map of ${points?.rows.length ?? 0} documents; those of the topics are coloured.`}
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId);
          setCircle([placeOf(event)]);
        }}
        onPointerMove={(event) => {
          if (circle.length > 0) setCircle([...circle, placeOf(event)]);
        }}
        onPointerUp={finish}
        onPointerCancel={() => setCircle([])}
      />
        <svg aria-hidden="true">
          <polyline class="circle" points={circle.join(" ")} />
        </svg>
      </div>
    </section>
  );
}

/** How often the colours have changed. */
function useTheme(): number {
  const [n, setN] = useState(0);
  useEffect(() => {
    const change = () => setN((before) => before + 1);
    const observer = new MutationObserver(change);
    const dark = matchMedia("(prefers-color-scheme: dark)");
    observer.observe(document.documentElement, { attributeFilter: ["data-theme"] });
    dark.addEventListener("change", change);
    return () => {
      observer.disconnect();
      dark.removeEventListener("change", change);
    };
  }, []);
  return n;
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
      if (isShown(i)) context.fillRect(((x[i] ?? 0) / LARGEST) * width, ((y[i] ?? 0) / LARGEST) * height, size, size);
    }
  };
  draw(style.getPropertyValue("--dots"), () => true);
  members.forEach((member, j) => draw(colors[j % 8] ?? "", (i) => (member[i] ?? 0) >= IS_MEMBER));
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
    const distance = (((x[i] ?? 0) / LARGEST) * width - left) ** 2 + (((y[i] ?? 0) / LARGEST) * HEIGHT - top) ** 2;
    if (distance < best) [best, nearest] = [distance, i];
  }
  return nearest < 0 ? null : (rows[nearest] ?? null);
}

/** The rows inside of a line, at even steps if they are many. */
function rowsInside({ rows, x, y }: MapPoints, line: Place[], width: number): number[] {
  const inside: number[] = [];
  for (let i = 0; i < rows.length; i++) {
    if (isInside(((x[i] ?? 0) / LARGEST) * width, ((y[i] ?? 0) / LARGEST) * HEIGHT, line)) inside.push(rows[i] ?? 0);
  }
  const step = Math.ceil(inside.length / MAX_MARKED);
  return inside.filter((_, i) => i % step === 0);
}

function isInside(left: number, top: number, line: Place[]): boolean {
  let isIn = false;
  line.forEach(([x1, y1], i) => {
    const [x2, y2] = line[(i + 1) % line.length] ?? [x1, y1];
    if (y1 > top !== y2 > top && left < ((x2 - x1) * (top - y1)) / (y2 - y1) + x1) isIn = !isIn;
  });
  return isIn;
}
