// Files that are dragged over the page and dropped on it.

/**
 * Listen for dragged files: hovering(is) when some come or go, dropped(event) when they are let go. The returned function
 * stops it.
 * @param {{hovering: (is: boolean) => void, dropped: (event: DragEvent) => void}} act
 * @param {{isFirst?: boolean, takesAll?: boolean}} [options] whether to get a drop before all others; whether to take what is
 *   no file too, which the browser would open: a picture of another page
 */
export function onDraggedFiles({ hovering, dropped }, { isFirst = false, takesAll = false } = {}) {
  let depth = 0; // number of elements that the pointer has entered
  const hover = (change) => {
    depth = change === 0 ? 0 : Math.max(depth + change, 0);
    hovering(depth > 0);
  };
  const hasFiles = (event) => event.dataTransfer?.types.includes("Files");
  const listeners = {
    dragenter: (event) => hasFiles(event) && hover(1),
    dragleave: (event) => hasFiles(event) && hover(-1),
    dragover: (event) => event.preventDefault(), // otherwise the browser opens the file
    drop: (event) => {
      event.preventDefault();
      hover(0);
      dropped(event);
    },
  };
  const stops = Object.entries(listeners).map(([name, listener]) => {
    const handle = (/** @type {any} */ event) => (takesAll || hasFiles(event)) && listener(event);
    window.addEventListener(name, handle, { capture: isFirst });
    return () => window.removeEventListener(name, handle, { capture: isFirst });
  });
  return () => stops.forEach((stop) => stop());
}
