// Links: a plain click stays in the page, other buttons and keys do what the browser does.

export function isPlainClick(event) {
  return event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;
}
