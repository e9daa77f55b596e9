// Highlighting of words in a text, with <mark> elements.

import { h } from "../shared/dom.js";

// Letters of scripts without spaces stand beside a word without being part of it.
const SCRIPTS = ["Han", "Hiragana", "Katakana", "Thai", "Lao", "Khmer", "Myanmar"];
const UNSPACED = `[${SCRIPTS.map((script) => `\\p{Script=${script}}`).join("")}]`;
const LETTER = `(?:(?!${UNSPACED})[\\p{L}\\p{N}\\p{M}_])`;

/** Return a function that splits a text into nodes and marks these words. */
export function highlighter(words) {
  const longestFirst = [...new Set(words)].filter(Boolean).sort((a, b) => b.length - a.length);
  if (longestFirst.length === 0) return (text) => [text];
  const pattern = new RegExp(`(?<!${LETTER})(?:${longestFirst.map(escaped).join("|")})(?!${LETTER})`, "giu");
  return (text) => marked(text, pattern);
}

function marked(text, pattern) {
  const nodes = [];
  let end = 0;
  for (const match of text.matchAll(pattern)) {
    nodes.push(text.slice(end, match.index), h("mark", {}, match[0]));
    end = match.index + match[0].length;
  }
  return [...nodes, text.slice(end)].filter((node) => node !== "");
}

function escaped(word) {
  // The blank of a phrase may be a hyphen in the text.
  return word.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&").replaceAll(" ", "[ -]");
}
