// Export of topics as an image: words as bars with whiskers, in colors for paper.

import { svg } from "./dom.js";
import { savePicture } from "./download.js";
import { chance, count, giveOrTake, percent, times } from "./numbers.js";
import { titleOf } from "./topic-title.js";
import { badgeOf, toneOf } from "./verdicts.js";

const WIDTH = 560;
const EDGE = 28;
const ROW = 24;
const HEAD = 96;
const FOOT = 52;
const MAX_PER_ROW = 4;
const NAMES = 130; // width for the words
const NUMBERS = 150; // width for the numbers on the right
const INK = "#1b1f27";
const MUTED = "#5a6270";
const BAR = "#7088d0";
const TONES = { good: "#1a6b41", doubt: "#855400", bad: "#ab2a20" };

/** Save the answers side by side as an image; kind is "png" or "svg". */
export async function saveTopics(answers, page, kind) {
  const picture = drawTopics(answers, page.index);
  const hidden = Object.assign(document.createElement("div"), { className: "visually-hidden", inert: true });
  hidden.append(picture);
  document.body.append(hidden); // computed styles need an attached element
  try {
    await savePicture(picture, answers.map(({ hint }) => hint).join("-"), kind);
  } catch (error) {
    page.showError(error);
  } finally {
    hidden.remove();
  }
}

function drawTopics(answers, index) {
  const tall = HEAD + ROW * Math.max(...answers.map((answer) => answer.words.length));
  const across = Math.min(answers.length, MAX_PER_ROW);
  const width = WIDTH * across;
  const height = tall * Math.ceil(answers.length / across) + FOOT;
  const place = (i) => `translate(${(i % across) * WIDTH} ${Math.floor(i / across) * tall})`;
  return svg(
    "svg",
    { viewBox: `0 0 ${width} ${height}`, width, height },
    answers.map((answer, i) => svg("g", { transform: place(i) }, head(answer), words(answer))),
    foot(answers, index).map((line, i) => text(EDGE, height - FOOT + 24 + 14 * i, line, { size: 10, fill: MUTED })),
  );
}

function foot(answers, index) {
  const hasErrors = answers.some(({ weight_stderr: stderr }) => stderr !== null);
  const errors = hasErrors ? ", give or take one standard error" : "";
  const bars = `Bars: a word's share of the topic${errors}. ×: times likelier than in the corpus.`;
  return [bars, `Found by mixsearch in ${index.name}, ${count(index.n_documents, "document")}.`];
}

function head(answer) {
  const share = `${withError(answer.weight, answer.weight_stderr)} of the corpus`;
  const sure = answer.confidence === null ? "" : ` · ${chance(answer.confidence)} sure`;
  return [
    text(EDGE, 30, `Topic of ${cut(answer.hint, 60)}`, { size: 12, fill: MUTED }),
    text(EDGE, 54, cut(titleOf(answer.words), 44), { size: 20, weight: 650 }),
    text(EDGE, 76, `${share}${sure}`, { size: 13 }),
    text(WIDTH - EDGE, 76, badgeOf(answer), { size: 13, weight: 600, anchor: "end", fill: TONES[toneOf(answer)] }),
  ];
}

function words(answer) {
  const tips = answer.words.map(({ probability, probability_stderr: stderr }) => probability + (stderr ?? 0));
  const scale = (WIDTH - 2 * EDGE - NAMES - NUMBERS) / Math.max(...tips);
  return answer.words.map((each, i) => row(each, HEAD + i * ROW, scale));
}

function row({ word, probability, probability_stderr: stderr, likelier }, y, scale) {
  const left = EDGE + NAMES;
  const middle = y + ROW / 2;
  const [low, high] = [Math.max(probability - stderr, 0), probability + stderr].map((end) => left + end * scale);
  return [
    text(left - 10, middle + 4, cut(word, 20), { anchor: "end" }),
    svg("rect", { x: left, y: y + 5, width: probability * scale, height: ROW - 10, rx: 3, fill: BAR }),
    stderr === null ? null : whisker(low, high, middle),
    text(WIDTH - EDGE - 48, middle + 4, withError(probability, stderr), { anchor: "end", size: 12 }),
    text(WIDTH - EDGE, middle + 4, times(likelier), { anchor: "end", size: 12, fill: MUTED }),
  ];
}

function withError(share, stderr) {
  return stderr === null ? percent(share) : `${percent(share)} ${giveOrTake(share, stderr)}`;
}

function whisker(from, to, y) {
  const d = `M${from} ${y - 4}V${y + 4}M${from} ${y}H${to}M${to} ${y - 4}V${y + 4}`;
  return svg("path", { d, fill: "none", stroke: INK, "stroke-width": 1.4 });
}

function text(x, y, content, { size = 13, weight = 400, anchor = "start", fill = INK } = {}) {
  return svg("text", { x, y, "font-size": `${size}px`, "font-weight": weight, "text-anchor": anchor, fill }, content);
}

function cut(content, length) {
  return content.length > length ? `${content.slice(0, length - 1)}…` : content;
}
