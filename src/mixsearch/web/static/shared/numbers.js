// Numbers for people.

/** Three figures, no exponent where none is needed. */
export function plain(x) {
  if (Math.abs(x) >= 1000) return Math.round(x).toLocaleString("en");
  return String(Number(x.toPrecision(3)));
}

/** A part of one as per cent, in two figures. */
export function percent(share) {
  return `${(100 * share).toFixed(decimals(share))}%`;
}

/** A part of a whole where the smallest ones do not matter. */
export function roughly(share) {
  return share < 0.005 ? "under 1%" : `${Math.round(100 * share)}%`;
}

/** The standard error of such a part, with the decimals that the part is shown with. */
export function giveOrTake(share, stderr) {
  const rounded = (100 * stderr).toFixed(decimals(share));
  return `± ${Number(rounded) > 0 ? rounded : Number((100 * stderr).toPrecision(1))}`;
}

function decimals(share) {
  const size = Math.abs(100 * share);
  if (size === 0 || size >= 9.95) return 0;
  return Math.min(Math.max(1 - Math.floor(Math.log10(size)), 0), 6);
}

/** How many times likelier, in two figures. */
export function times(x) {
  return `${x >= 9.5 ? Math.round(x).toLocaleString("en") : Number(x.toPrecision(2))}×`;
}

/** A chance in whole per cents, and never a certainty. */
export function chance(x) {
  if (x >= 0.01 && x < 0.995) return `${Math.round(100 * x)}%`;
  return x > 0.5 ? "above 99%" : "below 1%";
}

export function count(n, noun) {
  return `${n.toLocaleString("en")} ${noun}${n === 1 ? "" : "s"}`;
}
