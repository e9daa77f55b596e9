// The order of the documents of a topic: those most about it first, or by a column.

import { h } from "../shared/dom.js";

const ORDERS = {
  date: [["newest first", true], ["oldest first", false]],
  number: [["highest first", true], ["lowest first", false]],
  title: [["A to Z", false]],
};

/**
 * Create the choice of an order; null for an index without columns to sort by.
 * @param {{columns: {name: string, role: string | null}[]}} index
 * @param {import("./search.js").Search} search
 * @param {(sortBy: string, descending: boolean) => void} choose
 */
export function documentOrder({ columns }, search, choose) {
  const orders = columns.flatMap(({ name, role }) => (ORDERS[role ?? ""] ?? []).map(([label, isFalling]) => ({ name, label, isFalling })));
  if (orders.length === 0) return null;
  const option = ({ name, label, isFalling }, i) =>
    h("option", { value: i, selected: name === search.sort_by && isFalling === search.descending }, `${name}, ${label}`);
  const change = (event) => {
    const chosen = orders[event.target.selectedIndex - 1];
    choose(chosen?.name ?? "", chosen?.isFalling ?? false);
  };
  return h(
    "select",
    { id: "document-order", "aria-label": "Order of the documents", "data-key": "document order", on: { change } },
    h("option", { value: "", selected: search.sort_by === "" }, "most about it first"),
    orders.map(option),
  );
}
