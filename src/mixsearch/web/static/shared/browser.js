// Storage of the browser. It may be forbidden: the page works without them.

const PREFIX = "mixsearch-";

/** Store a value in "localStorage" or "sessionStorage". If storage is forbidden, even naming it may throw. */
export function remember(storage, name, value) {
  try {
    globalThis[storage].setItem(PREFIX + name, typeof value === "string" ? value : JSON.stringify(value));
  } catch {
    // The value is lost when the page is closed.
  }
}

