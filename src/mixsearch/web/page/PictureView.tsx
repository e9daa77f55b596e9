// A picture: painted at once, seeds of named segments by clicks, and the segments over it.

import { useEffect, useRef, useState } from "preact/hooks";
import { ApiError, get, isAbort } from "./api";
import type { ViewProps } from "./files";
import { percent } from "./format";
import { marked, nameOf, readSegments, requestOf, withoutPixel, type Pixel, type Segment, type Target } from "./seeds";
import { fitted, fittedSize, pictureName, upload, type Size } from "./upload";
import { chanceOf } from "./values";

const QUICK_PIXELS = 600_000; // that are requested while clicking; downloads have all
const LARGE_STEP = 10;
const [ZOOM_STEP, MAX_ZOOM] = [1.5, 12];
const STROKE_STEP = 14; // pixels between the seeds of a stroke
const MAX_HEIGHT = 74; // of the picture, in per cent of that of the window
const ARROWS: Record<string, Pixel> = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

interface FoundSegment {
  name: string;
  share: number;
  expected_iou: number | null;
  color: string;
  outline: string | null;
}

interface Segmented extends Size {
  segments: FoundSegment[];
  warnings: { message: string }[];
}

export function PictureView({ settings, params, file, onGo, onError }: ViewProps) {
  const [key, setKey] = useState(params.get("picture"));
  const [source, setSource] = useState<string | null>(null);
  const [size, setSize] = useState<Size | null>(null);
  const [segments, setSegments] = useState<Segment[]>(() => readSegments(params));
  const [past, setPast] = useState<Segment[][]>([]);
  const [target, setTarget] = useState<Target>({ segment: null, isNot: false });
  const [answer, setAnswer] = useState<Segmented | null>(null);
  const [isBusy, setBusy] = useState(false);
  const [cursor, setCursor] = useState<Pixel | null>(null);

  // The picture: the local file is painted at once, and sent meanwhile.
  useEffect(() => {
    const controller = new AbortController();
    const fail = (error: unknown) => {
      if (isAbort(error)) return;
      onGo("open", new URLSearchParams(), false);
      onError(error);
    };
    const name = params.get("picture");
    if (file) {
      setSource(URL.createObjectURL(file));
      void sendPicture(controller.signal).catch(fail);
    } else if (name) {
      setSource(`api/pictures/${encodeURIComponent(name)}/image.png`);
      get<Size>(`api/pictures/${encodeURIComponent(name)}`, undefined, controller.signal).then(({ width, height }) => setSize({ width, height }), fail);
    }
    return () => controller.abort();
  }, []);
  const sendPicture = async (signal?: AbortSignal) => {
    if (!file) throw new ApiError("gone", "The picture is not on the server any more. Open it again.");
    const sent = await upload<{ file: string } & Size>(pictureName(file, settings), await fitted(file, settings), signal ?? new AbortController().signal);
    setSize({ width: sent.width, height: sent.height });
    setKey(sent.file);
    return sent.file;
  };

  // Its segments: one request at a time, of the latest seeds.
  const latest = useRef({ segments, isAsking: false });
  latest.current.segments = segments;
  const ask = async (picture: string, { width, height }: Size) => {
    if (latest.current.isAsking) return;
    latest.current.isAsking = true;
    setBusy(true);
    let asked: Segment[] | null = null;
    try {
      while (asked !== latest.current.segments) {
        asked = latest.current.segments;
        if (asked.length === 0) setAnswer(null);
        else {
          const every = Math.max(Math.round(Math.sqrt((width * height) / QUICK_PIXELS)), 1);
          const query = new URLSearchParams([...requestOf(asked), ["every", String(every)], ["outlines", "true"]]);
          const request = (name: string) => get<Segmented>(`api/pictures/${encodeURIComponent(name)}/segments`, query);
          const found = await request(picture).catch(async (error: unknown) => {
            if (!(error instanceof ApiError && error.code === "gone" && file)) throw error;
            return request(await sendPicture());
          });
          setAnswer(found);
        }
      }
    } catch (error) {
      setAnswer(null);
      onError(error);
    } finally {
      latest.current.isAsking = false;
      setBusy(false);
    }
  };
  useEffect(() => {
    if (key && size) {
      onGo("segment", new URLSearchParams([["picture", key], ...requestOf(segments)]), false);
      void ask(key, size);
    }
  }, [key, size, segments]);

  const change = (next: Segment[]) => {
    setPast([...past, segments]);
    setSegments(next);
  };
  const put = (stroke: Pixel[], where: Target = target) => change(marked(segments, stroke, where));
  const stage = useRef<HTMLDivElement>(null);
  const frame = useRef<HTMLDivElement>(null);
  const [zoom, setZoom] = useState(1);
  const fit = useRef(0); // width of the picture that is not enlarged, in pixels
  /** Enlarge around the middle of what is shown. */
  const zoomBy = (factor: number) => {
    const next = Math.min(Math.max(zoom * factor, 1), MAX_ZOOM);
    if (zoom === 1) fit.current = stage.current?.clientWidth ?? 0;
    setZoom(next);
    const box = frame.current;
    if (!box) return;
    const [x, y] = [box.scrollLeft + box.clientWidth / 2, box.scrollTop + box.clientHeight / 2];
    requestAnimationFrame(() => box.scrollTo((x * next) / zoom - box.clientWidth / 2, (y * next) / zoom - box.clientHeight / 2));
  };
  // A click puts a seed, and a stroke several along its way.
  const [stroke, setStroke] = useState<Pixel[]>([]);
  const last = useRef({ x: 0, y: 0 });
  const pixelOf = (event: PointerEvent, { width, height }: Size): Pixel => {
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
    const [x, y] = [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height];
    return [clamp(Math.floor(x * width), width), clamp(Math.floor(y * height), height)];
  };
  const onPointerDown = (event: PointerEvent) => {
    if (!size || event.button !== 0) return;
    (event.currentTarget as HTMLElement).setPointerCapture(event.pointerId);
    last.current = { x: event.clientX, y: event.clientY };
    setStroke([pixelOf(event, size)]);
  };
  const onPointerMove = (event: PointerEvent) => {
    const { clientX: x, clientY: y } = event;
    if (!size || stroke.length === 0 || Math.hypot(x - last.current.x, y - last.current.y) < STROKE_STEP) return;
    last.current = { x, y };
    setStroke([...stroke, pixelOf(event, size)]);
  };
  const onPointerUp = (event: PointerEvent) => {
    const [first] = stroke;
    setStroke([]);
    if (!first) return;
    const isLast = event.shiftKey && segments.length > 0;
    put(stroke, event.altKey ? covering(first) : isLast ? { segment: segments.length - 1, isNot: false } : target);
  };
  /** Where a click goes that takes a spot out: of the segment that covers it; what no segment covers is of the first. */
  const covering = ([x, y]: Pixel): Target => {
    if (!answer || !size || segments.length === 0) return target;
    const place = new DOMPoint(((x + 0.5) / size.width) * answer.width, ((y + 0.5) / size.height) * answer.height);
    const paths = [...(stage.current?.querySelectorAll<SVGPathElement>(".outlines path") ?? [])];
    const segment = Number(paths.find((path) => path.isPointInFill(place))?.dataset.segment ?? segments.length);
    return segment < segments.length ? { segment, isNot: true } : { segment: 0, isNot: false };
  };
  const undo = () => {
    setSegments(past.at(-1) ?? []);
    setPast(past.slice(0, -1));
    setTarget({ segment: null, isNot: false });
  };
  const remove = (next: Segment[]) => {
    change(next);
    setTarget({ segment: null, isNot: false });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (!size) return;
    const arrow = ARROWS[event.key];
    const [x, y] = cursor ?? [Math.floor(size.width / 2), Math.floor(size.height / 2)];
    if (arrow) {
      const step = event.shiftKey ? 1 : Math.max(LARGE_STEP, Math.round(size.width / 60));
      setCursor([clamp(x + step * arrow[0], size.width), clamp(y + step * arrow[1], size.height)]);
    } else if (event.key === "Enter" || event.key === " ") put([[x, y]]);
    else if (event.key === "z" && (event.ctrlKey || event.metaKey)) undo();
    else return;
    event.preventDefault();
  };
  const colors = answer?.segments.map(({ color }) => color) ?? [];
  const title = file?.name.replace(/\.[^.]*$/, "") ?? key ?? "picture";
  const fileAddress = (kind: string, more: string[][] = []) =>
    `api/pictures/${encodeURIComponent(key ?? "")}/${kind}?${new URLSearchParams([...requestOf(segments), ...more])}`;
  return (
    <div class="picture-view">
      <section class="picture-main" aria-labelledby="picture-title">
        <h1 id="picture-title" dir="auto">
          {file?.name ?? (key === "example" ? "Example" : "Picture")}
        </h1>
        <p class="muted small">
          {adviceOf(segments, target)} A stroke marks more. By keys: arrows move the cross, Enter clicks.
        </p>
        <p class="toolbar">
          <button type="button" aria-label="Larger" disabled={zoom >= MAX_ZOOM} onClick={() => zoomBy(ZOOM_STEP)}>
            +
          </button>
          <button type="button" aria-label="Smaller" disabled={zoom <= 1} onClick={() => zoomBy(1 / ZOOM_STEP)}>
            −
          </button>
          <span class="muted small">{zoom > 1 ? `${Math.round(100 * zoom)}%. Scroll to move.` : ""}</span>
        </p>
        <div ref={frame} class="frame">
        <div
          ref={stage}
          class={zoom > 1 ? "stage zoomed" : "stage"}
          style={{ width: zoom > 1 ? `${fit.current * zoom}px` : size ? `min(100%, ${(MAX_HEIGHT * size.width) / size.height}vh)` : "" }}
          onPointerDown={onPointerDown}
          onPointerMove={onPointerMove}
          onPointerUp={onPointerUp}
          onPointerCancel={() => setStroke([])}
          tabIndex={0}
          role="group"
          aria-label="The picture. Arrow keys move the cross, Enter puts a seed."
          aria-busy={isBusy || !key}
          onKeyDown={onKeyDown}
          onFocus={() => size && setCursor(cursor ?? [Math.floor(size.width / 2), Math.floor(size.height / 2)])}
          onBlur={() => setCursor(null)}
        >
          {source ? (
            <img
              src={source}
              draggable={false}
              alt=""
              onLoad={({ currentTarget: { naturalWidth: width, naturalHeight: height } }) => file && setSize((now) => now ?? fittedSize({ width, height }, settings))}
              onError={() => file && key && setSource(`api/pictures/${encodeURIComponent(key)}/image.png`)}
            />
          ) : null}
          {answer ? (
            <svg class="outlines" viewBox={`0 0 ${answer.width} ${answer.height}`} preserveAspectRatio="none" aria-hidden="true">
              {answer.segments.map(({ name, color, outline }, i) =>
                outline ? <path key={name} data-segment={i} d={outline} fill={color} stroke={color} fill-rule="evenodd" class={i < segments.length ? "" : "background"} vector-effect="non-scaling-stroke" /> : null,
              )}
            </svg>
          ) : null}
          {size ? <Seeds size={size} segments={stroke.length > 1 ? marked(segments, stroke, target) : segments} colors={colors} cursor={cursor} /> : null}
        </div>
        </div>
        <p class="small muted" role="status">
          {!key ? "Sending the picture; you can click already." : isBusy ? "Searching …" : answer ? answer.segments.map(({ name, share }) => `${name}: ${percent(share)}`).join(", ") : ""}
        </p>
      </section>
      <aside class="card picture-side" aria-label="Segments">
        <h2>Segments</h2>
        {segments.length === 0 ? <p class="muted">None yet.</p> : null}
        <ol>
          {segments.map((segment, i) => (
            <SegmentItem
              key={i}
              name={nameOf(segments, segment)}
              segment={segment}
              found={answer?.segments[i] ?? null}
              target={target.segment === i ? target : null}
              maxLength={settings.max_name_length}
              cutOut={answer ? fileAddress("cut-out.png", [["segment", nameOf(segments, segment)]]) : null}
              cutOutName={`${title}-${nameOf(segments, segment)}.png`}
              onRename={(name) => change(segments.map((each, j) => (j === i ? { ...each, name } : each)))}
              onTarget={(isNot) => setTarget(target.segment === i && target.isNot === isNot ? { segment: null, isNot: false } : { segment: i, isNot })}
              onRemoveSeed={(pixel) => remove(withoutPixel(segments, i, pixel))}
              onRemove={() => remove(segments.filter((_, j) => j !== i))}
            />
          ))}
        </ol>
        {answer?.warnings.map(({ message }) => (
          <p key={message} class="notes small">
            {message}
          </p>
        ))}
        <p class="toolbar">
          <button type="button" disabled={past.length === 0} onClick={undo}>
            Undo
          </button>
          <button type="button" disabled={segments.length === 0} onClick={() => remove([])}>
            Clear
          </button>
        </p>
        {answer && segments.length > 0 ? (
          <a class="button" href={fileAddress("masks.zip")} download={`${title}-masks.zip`}>
            All masks as ZIP
          </a>
        ) : null}
      </aside>
    </div>
  );
}

function Seeds({ size, segments, colors, cursor }: { size: Size; segments: Segment[]; colors: string[]; cursor: Pixel | null }) {
  return (
    <>
      {segments.flatMap(({ pixels, notPixels }, i) =>
        [...pixels, ...notPixels].map(([x, y], j) => (
          <svg key={`${i} ${x} ${y}`} class="seed" style={placeOf([x, y], size)} viewBox="-10 -10 20 20" width="20" height="20" aria-hidden="true" data-x={x} data-y={y}>
            <circle r="8.5" fill={colors[i] ?? "#5f6672"} />
            <text y="4">{j < pixels.length ? i + 1 : "×"}</text>
          </svg>
        )),
      )}
      {cursor ? (
        <svg class="seed" style={placeOf(cursor, size)} viewBox="-10 -10 20 20" width="20" height="20" aria-hidden="true">
          <path class="cross" d="M-10,0H10M0,-10V10" />
        </svg>
      ) : null}
    </>
  );
}

function placeOf([x, y]: Pixel, { width, height }: Size) {
  return { left: `${(100 * (x + 0.5)) / width}%`, top: `${(100 * (y + 0.5)) / height}%` };
}

interface ItemProps {
  name: string;
  segment: Segment;
  found: FoundSegment | null;
  target: Target | null; // if clicks go to this segment
  maxLength: number;
  cutOut: string | null; // where the segment can be downloaded
  cutOutName: string;
  onRename: (name: string) => void;
  onTarget: (isNot: boolean) => void;
  onRemoveSeed: (pixel: Pixel) => void;
  onRemove: () => void;
}

function SegmentItem({ name, segment, found, target, maxLength, cutOut, cutOutName, onRename, onTarget, onRemoveSeed, onRemove }: ItemProps) {
  const seeds = [...segment.pixels, ...segment.notPixels];
  return (
    <li class="segment">
      <div class="segment-head">
        <svg viewBox="0 0 12 12" width="14" height="14" aria-hidden="true">
          <rect width="12" height="12" rx="3" fill={found?.color ?? "#5f6672"} />
        </svg>
        <input
          type="text"
          aria-label={`Name of ${name}`}
          value={segment.name}
          placeholder={name}
          maxLength={maxLength}
          onChange={(event) => onRename(event.currentTarget.value.replace(/[:=+~]/g, " "))}
        />
        <span class="share">{found ? percent(found.share) : ""}</span>
        <button type="button" aria-label={`Remove ${name}`} onClick={onRemove}>
          ×
        </button>
      </div>
      {found?.expected_iou == null ? null : <p class="small muted">expected overlap {chanceOf(found.expected_iou)}</p>}
      <p class="toolbar">
        <button type="button" aria-pressed={target !== null && !target.isNot} aria-label={`Add to it: ${name}`} onClick={() => onTarget(false)}>
          Add to it
        </button>
        <button type="button" aria-pressed={target?.isNot ?? false} aria-label={`Take out of ${name}`} onClick={() => onTarget(true)}>
          Take out
        </button>
        {cutOut ? (
          <a class="button" href={cutOut} download={cutOutName} aria-label={`Cut-out of ${name}`}>
            Cut-out
          </a>
        ) : null}
      </p>
      {seeds.length > 1 ? (
        <details class="small">
          <summary>{seeds.length} seeds</summary>
          {seeds.map(([x, y], i) => {
            const place = `${i < segment.pixels.length ? "" : "not "}${x}, ${y}`;
            return (
              <button key={place} type="button" class="link" aria-label={`${place}: remove this seed of ${name}`} onClick={() => onRemoveSeed([x, y])}>
                {place} <span aria-hidden="true">×</span>
              </button>
            );
          })}
        </details>
      ) : null}
    </li>
  );
}

function adviceOf(segments: Segment[], { segment, isNot }: Target): string {
  const chosen = segment === null ? undefined : segments[segment];
  if (chosen) return `Every click ${isNot ? "takes a spot out of" : "adds to"} ${nameOf(segments, chosen)}.`;
  if (segments.length === 0) return "Click a spot of each part that you want.";
  return "Click another part. Shift-click adds to the last segment, Alt-click takes a spot out of the one that covers it.";
}

function clamp(x: number, end: number): number {
  return Math.min(Math.max(x, 0), end - 1);
}
