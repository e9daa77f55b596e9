// What a browser keeps for the page. Storage may be full or forbidden: the page works without it.

const PREFIX = "mixsearch-";

export function remember(storage, name, value) {
  try {
    storage.setItem(PREFIX + name, typeof value === "string" ? value : JSON.stringify(value));
  } catch {
    // Then it is forgotten with the page.
  }
}

/** A list that was kept, or an empty one. */
export function rememberedList(storage, name) {
  try {
    const kept = JSON.parse(storage.getItem(PREFIX + name) ?? "[]");
    return Array.isArray(kept) ? kept : [];
  } catch {
    return [];
  }
}
