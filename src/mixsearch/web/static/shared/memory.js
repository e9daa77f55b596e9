// Browser storage. It may be full or forbidden: the page works without it.

const PREFIX = "mixsearch-";

/** Store a value in "localStorage" or "sessionStorage". If storage is forbidden, even naming it may throw. */
export function remember(storage, name, value) {
  try {
    globalThis[storage].setItem(PREFIX + name, typeof value === "string" ? value : JSON.stringify(value));
  } catch {
    // The value is lost when the page is closed.
  }
}

/** Return a stored list, or an empty one. */
export function rememberedList(storage, name) {
  try {
    const kept = JSON.parse(globalThis[storage].getItem(PREFIX + name) ?? "[]");
    return Array.isArray(kept) ? kept : [];
  } catch {
    return [];
  }
}
