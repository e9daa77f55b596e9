// A line that is drawn around points of a canvas, or a click on one.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";

const MIN_LINE = 6; // places of a line that is drawn around points; fewer are a click

export type Place = [number, number];

/** Return what a canvas listens to, and the line while it is drawn. */
export function useLasso(onLine: (isInside: (left: number, top: number) => boolean) => void, onClick: (place: Place) => void): [Record<string, (event: PointerEvent) => void>, ComponentChildren] {
  const [line, setLine] = useState<Place[]>([]);
  const placeOf = (event: PointerEvent): Place => {
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  const listeners = {
    onPointerDown: (event: PointerEvent) => {
      (event.currentTarget as HTMLElement).setPointerCapture(event.pointerId);
      setLine([placeOf(event)]);
    },
    onPointerMove: (event: PointerEvent) => {
      if (line.length > 0) setLine([...line, placeOf(event)]);
    },
    onPointerUp: (event: PointerEvent) => {
      setLine([]);
      if (line.length >= MIN_LINE) onLine((left, top) => isInside(left, top, line));
      else if (line.length > 0) onClick(placeOf(event));
    },
    onPointerCancel: () => setLine([]),
  };
  return [
    listeners,
    <svg key="line" aria-hidden="true">
      <polyline class="circle" points={line.join(" ")} />
    </svg>,
  ];
}

/** Whether a place is inside of a closed line: a ray from it crosses the line an odd number of times. */
function isInside(left: number, top: number, line: Place[]): boolean {
  let isIn = false;
  line.forEach(([x1, y1], i) => {
    const [x2, y2] = line[(i + 1) % line.length] ?? [x1, y1];
    if (y1 > top !== y2 > top && left < ((x2 - x1) * (top - y1)) / (y2 - y1) + x1) isIn = !isIn;
  });
  return isIn;
}
