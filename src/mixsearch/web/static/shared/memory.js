// What a browser keeps for the page. Storage may be full or forbidden: the page works without it.

const PREFIX = "mixsearch-";

/** Keep a value in "localStorage" or "sessionStorage": where it is forbidden, even its name may throw. */
export function remember(storage, name, value) {
  try {
    globalThis[storage].setItem(PREFIX + name, typeof value === "string" ? value : JSON.stringify(value));
  } catch {
    // Then it is forgotten with the page.
  }
}

/** A list that was kept, or an empty one. */
export function rememberedList(storage, name) {
  try {
    const kept = JSON.parse(globalThis[storage].getItem(PREFIX + name) ?? "[]");
    return Array.isArray(kept) ? kept : [];
  } catch {
    return [];
  }
}
