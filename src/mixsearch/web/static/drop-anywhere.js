// Files dropped anywhere on the page are opened, whatever the view.

import { isTable } from "./shared/file-drop.js";

/** Listen for files that can be opened; pictures are left to the view of segments. */
export function listenForFiles(page) {
  let depth = 0; // number of elements that the pointer has entered
  const hover = (change) => {
    depth = change === 0 ? 0 : Math.max(depth + change, 0);
    document.body.classList.toggle("is-dropping", depth > 0);
  };
  const listeners = {
    dragenter: () => hover(1),
    dragleave: () => hover(-1),
    dragover: (event) => event.preventDefault(), // otherwise the browser opens the file
    drop: (event) => {
      hover(0);
      event.preventDefault();
      const [file] = event.dataTransfer.files;
      if (!file || file.type.startsWith("image/")) return;
      event.stopImmediatePropagation();
      if (isTable(file, page.settings)) page.openFile(file);
      else page.showError(new Error(`${file.name} cannot be opened. Its name must end in ${page.settings.file_suffixes.slice(0, 7).join(", ")}.`));
    },
  };
  for (const [name, listener] of Object.entries(listeners)) {
    const hear = (/** @type {any} */ event) => event.dataTransfer?.types.includes("Files") && listener(event);
    window.addEventListener(name, hear, { capture: true });
  }
}
