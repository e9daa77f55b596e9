// What is asked of a table: the question, the axes and the columns.

import { h } from "../shared/dom.js";

export const TASKS = {
  members: { name: "Rows like these", hint: "Click a few rows of a group, or draw a line around them. The rows like them light up." },
  line: { name: "A line", hint: "Click a few rows of one line. The line that they follow is found among several." },
  subspace: { name: "A subspace", hint: "Click a few rows whose columns move together. The rows that do the same are found." },
};

/** Create the controls; change(part) is called with what is new. */
export function controls(info, state, change) {
  return h("div", { class: "table-controls" }, tasks(state, change), axes(info, state, change), columns(info, state, change));
}

function tasks({ task }, change) {
  const choices = Object.entries(TASKS).map(([value, { name }]) => {
    const input = h("input", { type: "radio", name: "task", value, on: { change: () => change({ task: value, like: [], notLike: [] }) } });
    input.checked = value === task;
    return h("label", { class: "chip" }, input, name);
  });
  return h("fieldset", { class: "table-tasks" }, h("legend", { class: "visually-hidden" }, "Question"), choices);
}

function axes(info, state, change) {
  if (state.task === "subspace" && state.like.length > 0) return null; // the plot shows the residuals
  const drawn = info.columns.filter(({ kind }) => kind === "number" || kind === "date");
  const usable = state.task === "members" ? drawn : drawn.filter(({ is_numeric: isNumeric }) => isNumeric);
  const select = (name, label) => {
    const first = state.task === "members" ? [h("option", { value: "" }, "Best view")] : [];
    const element = h(
      "select",
      { id: `axis-${name}`, on: { change: () => change(chosen(state, name, element.value, usable)) } },
      first,
      usable.map((column) => h("option", { value: column.name }, column.name)),
    );
    element.value = state[name];
    return h("label", {}, label, element);
  };
  const [across, up] = state.task === "line" ? ["From", "Predict"] : ["Across", "Up"];
  return h("div", { class: "toolbar" }, select("x", across), select("y", up));
}

/** Return the axes after one has changed: both are columns, or neither. */
function chosen(state, name, value, usable) {
  const other = name === "x" ? "y" : "x";
  if (value === "") return { x: "", y: "" };
  const free = usable.find((column) => column.name !== value)?.name ?? value;
  return { [name]: value, [other]: state[other] === "" || state[other] === value ? free : state[other] };
}

function columns(info, state, change) {
  const usable = info.columns.filter(({ kind, is_numeric: isNumeric }) =>
    state.task === "members" ? !["empty", "other"].includes(kind) : isNumeric,
  );
  const boxes = usable.map(({ name }) => {
    const input = h("input", { type: "checkbox", value: name });
    input.checked = state.task !== "line" && state.columns.length === 0 ? true : state.columns.includes(name);
    return input;
  });
  const apply = () => {
    const marked = boxes.filter(({ checked }) => checked).map(({ value }) => value);
    change({ columns: state.task !== "line" && marked.length === usable.length ? [] : marked });
  };
  const title = state.task === "line" ? "Predict from further columns" : "Columns that count";
  const count = state.columns.length > 0 ? ` (${state.columns.length} of ${usable.length})` : "";
  return h(
    "details",
    { class: "table-columns" },
    h("summary", {}, `${title}${count}`),
    h("div", { class: "boxes" }, boxes.map((box) => h("label", {}, box, h("span", { dir: "auto" }, box.value)))),
    h("button", { type: "button", class: "button plain", on: { click: apply } }, "Use these columns"),
  );
}
