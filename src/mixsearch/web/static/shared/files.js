// Files: chosen with a button, or dragged over the page and dropped on it.

import { h } from "./dom.js";
import { bytes } from "./numbers.js";

/**
 * Create a button that opens the file picker and calls take(file), with the input behind it.
 * @param {string} label
 * @param {string[]} accept types of files, as an input takes them
 * @param {(file: File) => void} take
 * @param {string} [className]
 */
export function picker(label, accept, take, className = "button") {
  const input = h("input", {
    type: "file",
    accept: accept.join(","),
    class: "visually-hidden",
    tabindex: -1,
    "aria-hidden": "true",
    on: {
      change: () => {
        const [file] = input.files ?? [];
        input.value = ""; // the same file may be chosen again
        if (file) take(file);
      },
    },
  });
  return [h("button", { type: "button", class: className, on: { click: () => input.click() } }, label), input];
}

/** Create a place to drop a file, with a button to choose one. */
export function fileDrop(page, title, ...more) {
  const { file_suffixes: suffixes, max_file: most } = page.settings;
  return h(
    "section",
    { class: "file-drop", "aria-label": title },
    h("h1", {}, title),
    h("p", {}, "Drop a CSV, JSON lines, Parquet or Excel file here. Texts: search them. Tables: find similar rows."),
    h("div", { class: "toolbar" }, picker("Choose a file", suffixes, (file) => page.openFile(file)), more),
    h("p", { class: "small muted" }, `Up to ${bytes(most)}. The file stays on this server until it stops, and goes nowhere else.`),
  );
}

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

/** Listen for files that can be opened; pictures are left to the view of segments. */
export function listenForFiles(page) {
  const { file_suffixes: suffixes } = page.settings;
  const plain = suffixes.filter((suffix) => suffix.lastIndexOf(".") === 0);
  const dropped = (event) => {
    const [file] = event.dataTransfer.files;
    if (!file || file.type.startsWith("image/")) return;
    event.stopImmediatePropagation();
    if (suffixes.some((suffix) => file.name.toLowerCase().endsWith(suffix))) page.openFile(file);
    else page.showError(new Error(`'${file.name}' cannot be opened. Its name must end in ${plain.join(", ")}; texts may be compressed, as in .csv.gz.`));
  };
  onDraggedFiles({ hovering: (is) => document.body.classList.toggle("is-dropping", is), dropped }, { isFirst: true });
}
