// What a document is called, and what its columns say about it.

import { h } from "./dom.js";

const SAFE_LINK = /^https?:\/\//iu;
const MIDNIGHT = /[T ]00:00(:00(\.0+)?)?$/u;

/** @param {{title?: string | null, name?: string | null, row: number | string}} document */
export function nameOfDocument({ title, name, row }) {
  return title || name || `Document ${row}`;
}

/** Allow line breaks after dots, slashes and underscores. */
export function breakable(name) {
  return name.split(/(?<=[._/\\-])/u).flatMap((part) => [part, h("wbr")]);
}

/** Create a line with the date and the link of a document; null if it has neither. */
export function dateAndLink({ date, link }) {
  const facts = [date ? h("time", {}, dayOf(date)) : null, linkTo(link)].filter(Boolean);
  return facts.length > 0 ? h("p", { class: "document-facts small" }, facts) : null;
}

/** Create a list of all columns of a document but its title, its date and its link. */
export function otherColumns({ columns, title, date, link }) {
  const shown = [title, date, link];
  const others = Object.entries(columns).filter(([, value]) => value !== null && !shown.includes(String(value)));
  if (others.length === 0) return null;
  return h("dl", { class: "document-columns small" }, others.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, typeof value === "string" ? dayOf(value) : String(value)))));
}

/** Leave out the time of day if it says nothing. */
function dayOf(date) {
  return date.replace(MIDNIGHT, "");
}

/** Create a link, unless the address would run a script or is not one. */
function linkTo(link) {
  if (!link || !SAFE_LINK.test(link) || !URL.canParse(link)) return null;
  const props = { class: "document-link", href: link, target: "_blank", rel: "noopener noreferrer" };
  const label = h("span", { class: "visually-hidden" }, " (opens in a new tab)");
  return h("a", props, new URL(link).hostname.replace(/^www\./u, ""), label);
}
