// Files dropped anywhere on the page are opened, whatever the view.

import { onDraggedFiles } from "./shared/dragged-files.js";
import { isTable } from "./shared/file-drop.js";

/** Listen for files that can be opened; pictures are left to the view of segments. */
export function listenForFiles(page) {
  const dropped = (event) => {
    const [file] = event.dataTransfer.files;
    if (!file || file.type.startsWith("image/")) return;
    event.stopImmediatePropagation();
    if (isTable(file, page.settings)) page.openFile(file);
    else page.showError(new Error(refusalOf(file, page.settings)));
  };
  onDraggedFiles({ hovering: (is) => document.body.classList.toggle("is-dropping", is), dropped }, { isFirst: true });
}

/** Return what the server would say, without sending the file there. */
function refusalOf({ name }, { file_suffixes: suffixes }) {
  const plain = suffixes.filter((suffix) => suffix.lastIndexOf(".") === 0);
  return `'${name}' cannot be opened. Its name must end in ${plain.join(", ")}; texts may be compressed, as in .csv.gz.`;
}
