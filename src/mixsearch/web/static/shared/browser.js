// Storage and clipboard of the browser. Both may be forbidden: the page works without them.

const PREFIX = "mixsearch-";
const CONFIRMED_FOR = 1500;

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

export async function copyText(page, text, button) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // Only a page from this machine or over https may use the clipboard.
    page.showError(new Error("The browser does not let this page copy. Select the text and copy it yourself."));
    return;
  }
  const label = button.textContent;
  button.textContent = "Copied";
  page.announce("Copied.");
  setTimeout(() => (button.textContent = label), CONFIRMED_FOR);
}
