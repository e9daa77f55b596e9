// Names of columns.

import { h } from "./dom.js";

/** Allow line breaks after dots, slashes and underscores. */
export function breakable(name) {
  return name.split(/(?<=[._/\\-])/u).flatMap((part) => [part, h("wbr")]);
}

