// The words of a search as the box has them: sushi -burger "new york" rice^2 encrypt*

const PIECES = /(-?)(?:"([^"]*)"?|([^\s"]+))/gu;
const WEIGHT = /\^[^\s^]*$/u;
const NOT_A_PREFIX = /["*?^]/u;

/** The pieces of a query: where each is, its word without sign, quotes and weight, and whether it is unwanted. */
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

/** Each word of a query in lower case, with true where it is wanted. */
export function wantedOf(query) {
  return new Map(piecesOf(query).map(({ word, isAvoided }) => [word.toLowerCase(), !isAvoided]));
}

/** A query with a word more, whatever it said of the word before. */
export function withWord(query, word, isAvoided = false) {
  return `${withoutWord(query, word)} ${isAvoided ? "-" : ""}${quoted(word)}`.trim();
}

export function withoutWord(query, word) {
  return changed(query, word, () => "");
}

/** A query with one word in the place of another; sign and weight go. */
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

/** What can be asked of a query that is still being typed: no lone minus, no open quote, no weight without a number. */
export function askable(query) {
  const isOpen = (query.match(/"/g)?.length ?? 0) % 2 === 1;
  const closed = isOpen ? `${query.trimEnd()}"` : query;
  return closed.replace(/(^|\s)-?""$|(^|\s)-$|\^-?$/u, "").trim();
}

/** The beginning of the word that ends at the caret, and where it starts; null where no word is being typed. */
export function prefixAt(query, caret) {
  const before = query.slice(0, caret);
  const [typed] = before.match(/\S*$/u);
  const prefix = typed.replace(/^-/u, "");
  const isInQuotes = (before.match(/"/g)?.length ?? 0) % 2 === 1;
  if (!prefix || isInQuotes || NOT_A_PREFIX.test(prefix)) return null;
  return { prefix, start: caret - prefix.length };
}

/** A word as the box has it: one of several parts needs quotes. */
export function quoted(word) {
  return /\s/u.test(word) ? `"${word}"` : word;
}
