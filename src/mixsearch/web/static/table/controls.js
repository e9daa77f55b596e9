// What is asked of a table: the axes and the columns.

import { h } from "../shared/dom.js";

/** Create the controls; change(part) is called with what is new. */
export function controls(info, state, change) {
  return h("div", { class: "table-controls" }, axes(info, state, change), columns(info, state, change));
}

function axes(info, state, change) {
  const usable = info.columns.filter(({ kind }) => kind === "number" || kind === "date");
  const select = (name, label) => {
    const element = h(
      "select",
      { id: `axis-${name}`, on: { change: () => change(chosen(state, name, element.value, usable)) } },
      h("option", { value: "" }, "Best view"),
      usable.map((column) => h("option", { value: column.name }, column.name)),
    );
    element.value = state[name];
    return h("label", {}, label, element);
  };
  return h("div", { class: "toolbar" }, select("x", "Across"), select("y", "Up"));
}

/** Return the axes after one has changed: both are columns, or neither. */
function chosen(state, name, value, usable) {
  const other = name === "x" ? "y" : "x";
  if (value === "") return { x: "", y: "" };
  const free = usable.find((column) => column.name !== value)?.name ?? value;
  return { [name]: value, [other]: state[other] === "" || state[other] === value ? free : state[other] };
}

function columns(info, state, change) {
  const usable = info.columns.filter(({ kind }) => !["empty", "other"].includes(kind));
  const boxes = usable.map(({ name }) => {
    const input = h("input", { type: "checkbox", value: name });
    input.checked = state.columns.length === 0 || state.columns.includes(name);
    return input;
  });
  const apply = () => {
    const marked = boxes.filter(({ checked }) => checked).map(({ value }) => value);
    change({ columns: marked.length === usable.length ? [] : marked });
  };
  const count = state.columns.length > 0 ? ` (${state.columns.length} of ${usable.length})` : "";
  return h(
    "details",
    { class: "table-columns" },
    h("summary", {}, `Columns that count${count}`),
    h("div", { class: "boxes" }, boxes.map((box) => h("label", {}, box, h("span", { dir: "auto" }, box.value)))),
    h("button", { type: "button", class: "button plain", on: { click: apply } }, "Use these columns"),
  );
}
