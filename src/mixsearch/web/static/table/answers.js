// Answers about a table: the members, the line or the subspace that the examples mean.

import { url } from "../shared/api.js";
import { breakable } from "../shared/document-facts.js";
import { h } from "../shared/dom.js";
import { chance, count, percent, plain, whole } from "../shared/numbers.js";
import { isLong, rowTable, shown } from "./rows.js";

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

/** Create the tables of rows that go with an answer. */
export function memberRows({ answer }, act) {
  return [rowTable("Label these next", answer.ask_next, act.choose), rowTable("Typical rows", answer.typical_rows)];
}

export function lineAnswer(found, act) {
  const terms = Object.entries(found.coefficients).map(([name, each]) => [name, each]);
  const title = found.n_components === 1 ? "One line for all rows" : `One of ${found.n_components} lines`;
  const others = found.others.map(({ weight, intercept, coefficients }) =>
    h("li", {}, `${percent(weight)} of the rows: ${equation(found.y, intercept, coefficients)}`),
  );
  return [
    head(title, found),
    h("p", { class: "table-equation" }, equation(found.y, found.intercept.value, values(found.coefficients))),
    facts([
      ...terms.map(([name, each]) => [`Per unit of ${name}`, estimate(each)]),
      ["At zero", estimate(found.intercept)],
      ["Deviation around the line", plain(found.noise)],
    ]),
    size(found.n_members, found.n_rows),
    warnings(found.warnings),
    rowList("Doubtful rows", found.doubtful_rows, act),
    others.length > 0 ? h("section", {}, h("h3", {}, "Other lines"), h("ul", { class: "small" }, others)) : null,
    leftOut(found),
  ];
}

export function subspaceAnswer(found, act) {
  const directions = found.basis.map(({ loadings }, i) => [`Direction ${i + 1}`, loadingsOf(loadings)]);
  return [
    head(found.n_components === 1 ? `One subspace of dimension ${found.dim} for all rows` : `One of ${found.n_components} subspaces, of dimension ${found.dim}`, found),
    size(found.n_members, found.n_rows),
    warnings(found.warnings),
    facts([...directions, ["Deviation around it", plain(found.noise)], ["Through", found.centered ? "the mean of the rows" : "zero"]]),
    rowList("Doubtful rows", found.doubtful_rows, act),
    leftOut(found),
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

function rowList(title, rows, act) {
  if (rows.length === 0) return null;
  const item = ({ row, id, membership }) =>
    h("button", { type: "button", class: "chip", on: { click: () => act.choose([row], false) } }, `row ${id ?? row}`, h("small", {}, chance(membership)));
  return h("section", {}, h("h3", {}, title), h("p", { class: "small muted" }, "A click makes a row an example."), h("div", { class: "toolbar" }, rows.map(item)));
}

function facts(list) {
  return h("dl", { class: "table-facts small" }, list.map(([name, value]) => [h("dt", { dir: "auto" }, name), h("dd", {}, value)]));
}

function dropped(columns) {
  const names = Object.entries(columns);
  if (names.length === 0) return null;
  return h("details", { class: "small" }, h("summary", {}, `${count(names.length, "column")} left out`), h("ul", {}, names.map(([name, reason]) => h("li", {}, h("bdi", {}, name), `: ${reason}`))));
}

function leftOut({ n_left_out: n }) {
  return n > 0 ? h("p", { class: "small muted" }, `Left out: ${count(n, "row")} without a number.`) : null;
}

function give(value, stderr) {
  if (typeof value !== "number" || stderr === null) return shown(value);
  return estimate({ value, stderr });
}

/** Format an estimate with as many decimals as its error deserves. */
function estimate({ value, stderr }) {
  if (stderr === null || !(stderr > 0)) return plain(value);
  const decimals = Math.min(Math.max(1 - Math.floor(Math.log10(stderr)), 0), 8);
  return `${value.toFixed(decimals)} ± ${stderr.toFixed(decimals)}`;
}

function shares(of) {
  return Object.entries(of).slice(0, 3).map(([level, share]) => `${level} ${percent(share)}`).join(", ");
}

function values(coefficients) {
  return Object.fromEntries(Object.entries(coefficients).map(([name, { value }]) => [name, value]));
}

function equation(y, intercept, coefficients) {
  const terms = Object.entries(coefficients).map(([name, value]) => `${value < 0 ? "−" : "+"} ${plain(Math.abs(value))} · ${name}`);
  return `${y} = ${plain(intercept)} ${terms.join(" ")}`;
}

function loadingsOf(loadings) {
  const largest = Object.entries(loadings).sort(([, a], [, b]) => Math.abs(b) - Math.abs(a)).slice(0, 4);
  return largest.map(([name, value]) => `${name} ${value >= 0 ? "+" : "−"}${Math.abs(value).toFixed(2)}`).join(", ");
}
