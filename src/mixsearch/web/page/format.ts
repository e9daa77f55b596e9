// Numbers and texts as people read them.

const WHOLE = new Intl.NumberFormat("en");

export function whole(n: number): string {
  return WHOLE.format(Math.round(n));
}

/** A number with two digits that are not zero. */
export function roughly(n: number): string {
  return WHOLE.format(Number(n.toPrecision(2)));
}

export function percent(share: number): string {
  const value = 100 * share;
  if (value > 0 && value < 0.1) return "<0.1%";
  return `${value < 10 ? value.toFixed(1) : Math.round(value)}%`;
}

export function plural(n: number, one: string, many = `${one}s`): string {
  return `${whole(n)} ${n === 1 ? one : many}`;
}

/** The name of a document: its title, its name or its row. */
export function titleOf(document: { title: string | null; name: string | null; row: number }): string {
  return document.title || document.name || `Document ${document.row}`;
}

/** A date without a time of midnight. */
export function dayOf(date: string): string {
  return date.replace(/T00:00:00.*$/, "");
}

/** Addresses that may be opened by a click: only pages of the web are. */
export function isLink(address: string | null): address is string {
  return address !== null && /^https?:\/\/\S+$/i.test(address);
}

const UNSPACED = "\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}";
const LETTER = `(?:(?![${UNSPACED}])[\\p{L}\\p{N}\\p{M}_])`;

/** Split a text at some words: every second part is one of them. */
export function splitAt(text: string, words: string[]): string[] {
  const longestFirst = [...new Set(words)].filter(Boolean).sort((a, b) => b.length - a.length);
  if (longestFirst.length === 0) return [text];
  const escaped = longestFirst.map((word) => word.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&").replaceAll(" ", "[ -]"));
  return text.split(new RegExp(`(?<!${LETTER})(${escaped.join("|")})(?!${LETTER})`, "giu"));
}
