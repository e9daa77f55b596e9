// The syntax of the search box: sushi -burger "new york" rice^2 encrypt*

const PIECES = /(-?)(?:"([^"]*)"?|([^\s"]+))/gu;
const WEIGHT = /\^[^\s^]*$/u;
const NOT_A_PREFIX = /["*?^]/u;

/** Split a query: the position of each piece, its bare word, and whether it is to be avoided. */
export function piecesOf(query) {
  return [...query.matchAll(PIECES)]
    .map((match) => ({
      start: match.index,
      end: match.index + match[0].length,
      isAvoided: match[1] === "-",
      word: (match[2] ?? match[3] ?? "").replace(WEIGHT, ""),
    }))
    .filter(({ word }) => word !== "");
}

/** Map each word of a query, in lower case, to whether it is wanted. */
export function wantedOf(query) {
  return new Map(piecesOf(query).map(({ word, isAvoided }) => [word.toLowerCase(), !isAvoided]));
}

/** Return whether a query has a word of another one, or the beginning of one. */
export function hasCommonWord(before, after) {
  const [ones, others] = [before, after].map((query) => piecesOf(query).map(({ word }) => word.toLowerCase()));
  return ones.some((one) => others.some((other) => one.startsWith(other) || other.startsWith(one)));
}

/** Add a word to a query, in place of an earlier mention. */
export function withWord(query, word, isAvoided = false) {
  return `${withoutWord(query, word)} ${isAvoided ? "-" : ""}${quoted(word)}`.trim();
}

export function withoutWord(query, word) {
  return changed(query, word, () => "");
}

/** Replace a word of a query by another one, without its weight. */
export function swapped(query, word, other) {
  return changed(query, word, ({ isAvoided }) => `${isAvoided ? "-" : ""}${quoted(other)}`);
}

function changed(query, word, piece) {
  const same = (each) => each.word.toLowerCase() === word.toLowerCase();
  let result = query;
  for (const each of piecesOf(query).filter(same).reverse()) {
    result = result.slice(0, each.start) + piece(each) + result.slice(each.end);
  }
  return result.replace(/\s+/gu, " ").trim();
}

/** Make a half-typed query valid: no lone minus, no open quote, no weight without a number. */
export function askable(query) {
  const isOpen = (query.match(/"/g)?.length ?? 0) % 2 === 1;
  const closed = isOpen ? `${query.trimEnd()}"` : query;
  return closed.replace(/(^|\s)-?""$|(^|\s)-$|\^-?$/u, "").trim();
}

/** Return the prefix before the caret and its position; null if no word is being typed. */
export function prefixAt(query, caret) {
  const before = query.slice(0, caret);
  const [typed] = before.match(/\S*$/u);
  const prefix = typed.replace(/^-/u, "");
  const isInQuotes = (before.match(/"/g)?.length ?? 0) % 2 === 1;
  if (!prefix || isInQuotes || NOT_A_PREFIX.test(prefix)) return null;
  return { prefix, start: caret - prefix.length };
}

/** Quote a word if it contains spaces. */
export function quoted(word) {
  return /\s/u.test(word) ? `"${word}"` : word;
}
