// Values of tables, chances and sizes as people read them.

import { percent } from "./format";

const MAX_TEXT = 80;

export type Value = string | number | boolean | null | object;

export function numberOf(x: number): string {
  return Math.abs(x) >= 1e6 || (x !== 0 && Math.abs(x) < 1e-3) ? x.toPrecision(3) : x.toLocaleString("en", { maximumFractionDigits: Math.abs(x) >= 100 ? 1 : 3, useGrouping: false });
}

export function averageOf(value: number | string | Record<string, number>): string {
  if (typeof value === "number") return numberOf(value);
  if (typeof value === "string") return value.slice(0, 10);
  const [largest] = Object.entries(value);
  return largest ? `${largest[0]} ${percent(largest[1])}` : "–";
}

/** A chance in whole per cents, and never as a certainty. */
export function chanceOf(x: number): string {
  if (x >= 0.01 && x < 0.995) return `${Math.round(100 * x)}%`;
  return x > 0.5 ? "above 99%" : "below 1%";
}

export function shown(value: Value | undefined): string {
  if (value === null || value === undefined) return "–";
  if (typeof value === "number") return numberOf(value);
  const text = typeof value === "object" ? JSON.stringify(value) : String(value).replace(/T00:00:00.*$/, "");
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)} …` : text;
}

export function bytes(n: number): string {
  const units = ["bytes", "kB", "MB", "GB"];
  const power = Math.min(Math.floor(Math.log10(Math.max(n, 1)) / 3), 3);
  const value = n / 1000 ** power;
  return `${power > 0 && value < 10 ? value.toFixed(1) : Math.round(value)} ${units[power]}`;
}
