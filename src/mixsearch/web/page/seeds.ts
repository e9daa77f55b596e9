// The seeds of the segments of a picture; every change makes a new list, so that it can be undone.

export type Pixel = [number, number];

export interface Segment {
  name: string; // as typed
  pixels: Pixel[];
  notPixels: Pixel[];
}

/** Where a click goes: to a segment, or to a new one. */
export interface Target {
  segment: number | null;
  isNot: boolean;
}

export function nameOf(segments: Segment[], segment: Segment): string {
  return segment.name.trim() || `segment ${segments.indexOf(segment) + 1}`;
}

/** Put the seeds of a click or a stroke where there are none yet. */
export function marked(segments: Segment[], stroke: Pixel[], { segment, isNot }: Target): Segment[] {
  const taken = segments.flatMap(({ pixels, notPixels }) => [...pixels, ...notPixels]);
  const added = stroke.filter((pixel, i) => ![...taken, ...stroke.slice(0, i)].some((each) => isSame(each, pixel)));
  if (added.length === 0) return segments;
  if (segment === null || !segments[segment]) return [...segments, { name: "", pixels: added, notPixels: [] }];
  const extend = (each: Segment) => (isNot ? { ...each, notPixels: [...each.notPixels, ...added] } : { ...each, pixels: [...each.pixels, ...added] });
  return segments.map((each, i) => (i === segment ? extend(each) : each));
}

/** Remove a seed, and its segment if it has no other. */
export function withoutPixel(segments: Segment[], index: number, pixel: Pixel): Segment[] {
  const without = (pixels: Pixel[]) => pixels.filter((each) => !isSame(each, pixel));
  return segments
    .map((each, i) => (i === index ? { ...each, pixels: without(each.pixels), notPixels: without(each.notPixels) } : each))
    .filter(({ pixels }) => pixels.length > 0);
}

/** The seeds as parameters of an address. */
export function requestOf(segments: Segment[]): string[][] {
  const write = (segment: Segment, pixels: Pixel[]) => `${nameOf(segments, segment)}:${pixels.map((pixel) => pixel.join(",")).join("+")}`;
  return [
    ...segments.map((segment) => ["seed", write(segment, segment.pixels)]),
    ...segments.filter(({ notPixels }) => notPixels.length > 0).map((segment) => ["not_seed", write(segment, segment.notPixels)]),
  ];
}

/** Read seeds from an address; what is invalid is ignored. */
export function readSegments(params: URLSearchParams): Segment[] {
  const notPixels = new Map(params.getAll("not_seed").map(readSeeds));
  return params
    .getAll("seed")
    .map(readSeeds)
    .map(([name, pixels]) => ({ name: /^(segment \d+)?$/.test(name) ? "" : name, pixels, notPixels: notPixels.get(name) ?? [] }))
    .filter(({ pixels }) => pixels.length > 0);
}

function readSeeds(text: string): [string, Pixel[]] {
  const end = Math.max(text.lastIndexOf(":"), 0);
  const pixels = [...text.slice(end).matchAll(/(\d{1,9}),(\d{1,9})/g)].map(([, x, y]): Pixel => [Number(x), Number(y)]);
  return [text.slice(0, end).trim(), pixels];
}

function isSame([x1, y1]: Pixel, [x2, y2]: Pixel): boolean {
  return x1 === x2 && y1 === y2;
}
