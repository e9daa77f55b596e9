// A button that opens the file picker of the browser.

import { h } from "./dom.js";

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
