// Links stay links: another button or key opens them elsewhere, a plain click stays in the page.

export function isPlainClick(event) {
  return event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;
}
