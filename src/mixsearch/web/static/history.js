// Entries of the browser's history: what is kept with each, and what Back closes before it leaves the view.

const KEPT_AFTER = 150;

/** @type {(() => void) | null} Closes what is open over the view. */
let closeLayer = null;
let timer = 0;

/** Return what was kept with the current entry. */
export function kept() {
  return history.state ?? {};
}

/** Keep facts with the current entry, such as how many documents are shown. */
export function keep(facts) {
  history.replaceState({ ...history.state, ...facts }, "");
}

/** Write an address as a new entry, or as the current one. An entry of something that was open is used up. */
export function write(address, { push }) {
  clearTimeout(timer);
  if (push && !history.state?.isLayer) history.pushState(null, "", address);
  else history.replaceState(history.state?.isLayer ? null : history.state, "", address);
  closeLayer = null;
}

/** Add an entry for something that opens over the view, so that Back closes it. */
export function openLayer(close) {
  closeLayer = close;
  history.pushState({ isLayer: true }, "");
}

/** Take the entry back after it was closed in another way. */
export function leaveLayer() {
  if (closeLayer === null) return;
  closeLayer = null;
  history.back();
}

/** Call listener when the user goes to another entry, unless that only closes something. */
export function onTravel(listener) {
  window.addEventListener("popstate", () => {
    clearTimeout(timer);
    const close = closeLayer;
    closeLayer = null;
    if (close) close();
    else listener();
  });
  window.addEventListener("scroll", () => {
    clearTimeout(timer);
    timer = setTimeout(() => keep({ scroll: Math.round(scrollY) }), KEPT_AFTER);
  }, { passive: true });
}
