// Number formats.

/** Format with three digits, without an exponent if possible. */
export function plain(x) {
  if (Math.abs(x) >= 1000) return Math.round(x).toLocaleString("en");
  return String(Number(x.toPrecision(3)));
}

/** Format a fraction as a percentage with two digits. */
export function percent(share) {
  return `${(100 * share).toFixed(decimals(share))}%`;
}

function decimals(share) {
  const size = Math.abs(100 * share);
  if (size === 0 || size >= 9.95) return 0;
  return Math.min(Math.max(1 - Math.floor(Math.log10(size)), 0), 6);
}

/** Format a number of things. */
export function whole(n) {
  return Math.round(n).toLocaleString("en");
}

/** Format a probability as a whole percentage, never 0% or 100%. */
export function chance(x) {
  if (x >= 0.01 && x < 0.995) return `${Math.round(100 * x)}%`;
  return x > 0.5 ? "above 99%" : "below 1%";
}

export function count(n, noun) {
  return `${n.toLocaleString("en")} ${noun}${n === 1 ? "" : "s"}`;
}

/** Format a number of bytes. */
export function bytes(n) {
  const units = ["bytes", "kB", "MB", "GB"];
  const power = Math.min(Math.floor(Math.log10(Math.max(n, 1)) / 3), units.length - 1);
  return `${Number((n / 1000 ** power).toPrecision(3))} ${units[power]}`;
}

