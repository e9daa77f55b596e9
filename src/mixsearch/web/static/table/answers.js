// The answer about a table: the rows like the examples.

import { url } from "../shared/api.js";
import { breakable } from "../shared/document-facts.js";
import { h } from "../shared/dom.js";
import { chance, count, percent, plain, whole } from "../shared/numbers.js";
import { isLong, shown } from "./rows.js";

const TONES = { clear: "good", likely: "good", doubtful: "doubt", unclear: "bad" };
const VERDICTS = { clear: "clear", likely: "likely", doubtful: "doubtful", unclear: "unclear" };
const MAX_COLUMNS = 10;

/** @param {any} found @param {any} groups @param {any} act */
export function membersAnswer(found, groups, act) {
  const { answer } = found;
  return [
    head(`${whole(answer.n_members.n)} rows like these`, answer),
    size(answer.n_members, answer.n_table_rows),
    h("p", { class: "small muted" }, "In 95% of tables, the true number is in the interval. More examples narrow it."),
    warnings(found.warnings),
    differences(answer.differences),
    otherGroups(groups, act),
    dropped(answer.dropped_columns),
  ];
}

/** Create the links to the files of an answer. */
export function downloads(address, params) {
  return h("p", { class: "small" }, h("a", { class: "button plain", href: url(`${address}.csv`, params), download: "" }, "Download the labelled table"));
}

function head(title, { verdict, confidence }) {
  return h(
    "div",
    { class: "toolbar" },
    h("h2", {}, title),
    h("span", { class: `verdict ${TONES[verdict] ?? "doubt"}` }, `${VERDICTS[verdict] ?? verdict}, ${chance(confidence)} sure`),
  );
}

function size({ n, low, high }, total) {
  const interval = low === null ? "" : ` (${whole(low)} to ${whole(high)})`;
  return h("p", {}, `About ${whole(n)}${interval} of ${whole(total)} rows, ${percent(n / total)}.`);
}

function warnings(list) {
  return list.map(({ message }) => h("p", { class: "table-doubt small" }, message));
}

function differences(list) {
  const drawn = list.slice(0, MAX_COLUMNS);
  const longest = Math.max(...drawn.map(({ effect }) => Math.abs(effect)), Number.MIN_VALUE);
  const row = ({ column, members, all_rows: all, stderr, effect }) =>
    h(
      "tr",
      {},
      h("th", { scope: "row", dir: "auto", class: isLong(column) ? "long" : null }, breakable(column)),
      h("td", { class: stderr === null ? null : "estimate" }, typeof members === "object" && members !== null ? shares(members) : give(members, stderr)),
      h("td", { class: "muted" }, typeof all === "object" && all !== null ? shares(all) : shown(all)),
      h("td", { title: `${plain(effect)} standard deviations` }, h("span", { class: "bar", "aria-hidden": "true" }, h("i", { style: { width: `${(100 * Math.abs(effect)) / longest}%` } })), h("span", { class: "visually-hidden" }, `${plain(effect)} standard deviations`)),
    );
  const columns = ["Column", "Members", "All rows", "Difference"].map((name) => h("th", { scope: "col" }, name));
  const table = h("table", { class: "plain-table small" }, h("thead", {}, h("tr", {}, columns)), h("tbody", {}, drawn.map(row)));
  const title = "What sets them apart";
  return h("section", {}, h("h3", {}, title), h("div", { class: "wide-table", tabindex: 0, role: "region", "aria-label": title }, table));
}

function otherGroups(groups, act) {
  if (!groups || groups.length === 0) return null;
  const button = ({ n_rows: n, typical_rows: rows }) =>
    h("button", { type: "button", class: "chip", on: { click: () => act.replace(rows) } }, `about ${whole(n)} rows`, h("small", {}, `such as row ${rows[0]}`));
  return h("section", {}, h("h3", {}, "Other groups in this table"), h("div", { class: "toolbar" }, groups.map(button)));
}

function dropped(columns) {
  const names = Object.entries(columns);
  if (names.length === 0) return null;
  return h("details", { class: "small" }, h("summary", {}, `${count(names.length, "column")} left out`), h("ul", {}, names.map(([name, reason]) => h("li", {}, h("bdi", {}, name), `: ${reason}`))));
}

/** Format a value with as many decimals as its error deserves. */
function give(value, stderr) {
  if (typeof value !== "number" || stderr === null) return shown(value);
  if (!(stderr > 0)) return plain(value);
  const decimals = Math.min(Math.max(1 - Math.floor(Math.log10(stderr)), 0), 8);
  return `${value.toFixed(decimals)} ± ${stderr.toFixed(decimals)}`;
}

function shares(of) {
  return Object.entries(of).slice(0, 3).map(([level, share]) => `${level} ${percent(share)}`).join(", ");
}
