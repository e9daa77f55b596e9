// What can be taken along: the address, and files of what is shown.

import { copyText } from "./clipboard.js";
import { h } from "./dom.js";
import { fileName } from "./file-name.js";

/** Create a button that copies the address of the page. */
export function linkButton(page) {
  const copy = () => copyText(page, location.href, button);
  const props = { type: "button", id: "copy-link", class: "button plain", "data-key": "copy", on: { click: copy } };
  const button = h("button", props, "Copy link");
  return button;
}

/**
 * Create links to files of topics: of the server, and pictures that the page draws of complete().
 * @param {{csv: string, json: string, html: string}} files
 * @param {any} page
 * @param {() => Promise<any[]>} complete
 */
export function downloads({ csv, json, html }, page, complete) {
  const picture = (kind) => {
    const click = async () => {
      const { saveTopics } = await import("./picture.js"); // drawing takes code that most never need
      await saveTopics(await complete(), page, kind);
    };
    const props = { type: "button", class: "link", "data-download": kind, "data-key": kind, on: { click } };
    return h("button", props, kind.toUpperCase());
  };
  const named = fileName(`${page.index.name}-${document.title.replace(/ · mixsearch$/u, "")}`);
  return h(
    "span",
    { class: "downloads small" },
    h("span", { class: "muted" }, "Save as "),
    // The server names these two.
    h("a", { href: html, download: "", "data-download": "html", title: "One file that opens offline, to send around" }, "Report"),
    h("a", { href: csv, download: "", "data-download": "csv" }, "CSV"),
    h("a", { href: json, download: `${named}.json`, "data-download": "json" }, "JSON"),
    picture("png"),
    picture("svg"),
  );
}
