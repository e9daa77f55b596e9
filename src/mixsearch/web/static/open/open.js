// A file that is opened: sent, looked at, and made an index or shown as a table.

import { get, isAbort, send, upload, url } from "../shared/api.js";
import { h, replace } from "../shared/dom.js";
import { fileDrop } from "../shared/files.js";
import { bytes, whole } from "../shared/numbers.js";

const POLL = 300;
const ROLES = {
  text: "text",
  id: "name of the row",
  title: "title",
  link: "link",
  date: "date",
  category: "category",
  number: "number",
};

export function show(root, state, page) {
  const view = new OpenView(root, page);
  view.update(state);
  return { update: (next) => view.update(next), close: () => view.close() };
}

class OpenView {
  #controller = new AbortController();
  #timer = 0;

  constructor(root, page) {
    this.root = root;
    this.page = page;
  }

  update(state) {
    this.close();
    this.#controller = new AbortController();
    const file = this.page.takeFile();
    if (!this.page.settings.accepts_files) {
      const text = "Other computers can reach this server without a token, so it accepts no files. Start it with --token.";
      replace(this.root, h("section", { class: "card" }, h("h1", {}, "No files here"), h("p", {}, text)));
      return;
    }
    if (file) this.#upload(file);
    else if (state.has("build")) this.#follow(state.get("build"), state.get("file"));
    else if (state.has("file")) this.#look(state.get("file"));
    else replace(this.root, fileDrop(this.page, "Open a file"));
  }

  close() {
    this.#controller.abort();
    clearTimeout(this.#timer);
  }

  // Sending

  async #upload(file) {
    const progress = new Progress(`Sending ${file.name}`, () => this.#stop());
    replace(this.root, progress.element);
    const onProgress = (done, total) => {
      if (done < total) progress.show(done, total, `${bytes(done)} of ${bytes(total)}`);
      else progress.show(null, null, "Looking at its columns");
    };
    try {
      const found = await upload(url("api/files", { name: file.name }), file, { onProgress, signal: this.#controller.signal });
      this.page.note({ file: found.file });
      this.#choose(found);
    } catch (error) {
      if (!isAbort(error)) this.#fail(error);
    }
  }

  #stop() {
    this.#controller.abort();
    this.page.go("open");
  }

  #fail(error) {
    replace(this.root, fileDrop(this.page, "Open another file"));
    this.page.showError(error);
  }

  // Choosing

  async #look(key) {
    try {
      this.#choose(await get(`api/files/${encodeURIComponent(key)}`));
    } catch (error) {
      this.#fail(error);
    }
  }

  #choose(file) {
    const { element, chosen } = foundColumns(file);
    const hasTexts = chosen().length > 0;
    const build = h("button", { type: "submit", class: hasTexts ? "button" : "button plain" }, "Search its texts");
    const open = () => this.page.go("table", { table: file.file });
    const asTable = h("button", { type: "button", class: hasTexts ? "button plain" : "button", on: { click: open } }, "Open as a table");
    const check = () => (build.disabled = chosen().length === 0);
    const submit = (event) => {
      event.preventDefault();
      this.#build(file, chosen());
    };
    replace(
      this.root,
      h(
        "form",
        { class: "card open-file", on: { submit, change: check } },
        h("h1", { tabindex: -1 }, file.name),
        h("p", { class: "muted" }, `${bytes(file.n_bytes)}, ${file.columns.length} columns. ${hasTexts ? "Mark the columns with the text, and search topics in them." : "No column seems to hold texts."}`),
        element,
        h("div", { class: "toolbar" }, hasTexts ? [build, asTable] : [asTable, build]),
      ),
    );
    check();
    this.page.announce(`${file.name} has ${file.columns.length} columns.`);
  }

  // Building

  async #build(file, text) {
    try {
      const build = await send("POST", "api/indexes", { file: file.file, text });
      this.page.note({ file: file.file, build: build.build }, { push: true });
      this.#watch(build, file.name);
    } catch (error) {
      this.page.showError(error);
    }
  }

  async #follow(key, file) {
    try {
      this.#watch(await get(`api/builds/${encodeURIComponent(key)}`), null);
    } catch (error) {
      if (file) this.#look(file);
      this.page.showError(error);
    }
  }

  #watch(build, name) {
    const cancel = () => send("DELETE", `api/builds/${build.build}`).catch((error) => this.page.showError(error));
    const progress = new Progress(`Indexing ${name ?? build.index}`, cancel);
    replace(this.root, progress.element);
    this.#step(build, progress);
  }

  #step(build, progress) {
    if (build.status === "done") {
      this.#finish(build);
    } else if (build.status === "running") {
      const { done, total, step } = build;
      progress.show(total === null ? null : done, total, step ? `${step}: ${amount(build)}` : "Starting");
      this.#timer = setTimeout(() => this.#ask(build, progress), POLL);
    } else {
      this.page.note({ file: build.file });
      this.#look(build.file);
      if (build.error) this.page.showError(new Error(build.error.message));
    }
  }

  async #ask(build, progress) {
    try {
      this.#step(await get(`api/builds/${build.build}`, {}, { signal: this.#controller.signal }), progress);
    } catch (error) {
      if (!isAbort(error)) this.#fail(error);
    }
  }

  #finish(build) {
    this.page.openIndex(build.index);
  }
}

/** A bar with a sentence and a button to cancel. */
class Progress {
  constructor(title, cancel) {
    this.bar = h("progress", { "aria-label": title });
    this.text = h("p", { class: "small muted", role: "status" }, "Starting");
    const button = h("button", { type: "button", class: "button plain", on: { click: cancel } }, "Cancel");
    this.element = h("section", { class: "card open-progress" }, h("h1", {}, title), this.bar, this.text, h("div", { class: "toolbar" }, button));
  }

  /** Show how much is done; null if that is unknown. */
  show(done, total, text) {
    if (done === null) {
      this.bar.removeAttribute("value");
    } else {
      this.bar.max = Math.max(total, 1);
      this.bar.value = done;
    }
    this.text.textContent = text;
  }
}

function amount({ done, total, unit }) {
  const format = unit === "bytes" ? bytes : whole;
  const all = total === null ? "" : ` of ${format(total)}`;
  return `${format(done)}${all}${unit === "bytes" ? "" : ` ${unit}`}`;
}

/** Create a table of the columns, with a box for each that may hold the text; chosen() returns the marked ones. */
function foundColumns({ columns }) {
  const boxes = new Map(columns.filter(mayBeText).map((column) => [column.name, box(column)]));
  const head = ["Text", "Column", "Holds", "For example"].map((name) => h("th", { scope: "col" }, name));
  const rows = columns.map((column) =>
    h(
      "tr",
      {},
      h("td", {}, boxes.get(column.name) ?? null),
      h("th", { scope: "row", dir: "auto" }, column.name),
      h("td", {}, ROLES[column.role] ?? (mayBeText(column) ? "words" : column.kind)),
      h("td", { class: "example muted", dir: "auto" }, column.example ?? "no value"),
    ),
  );
  const table = h("table", { class: "found-columns" }, h("thead", {}, h("tr", {}, head)), h("tbody", {}, rows));
  return {
    element: h("div", { class: "wide-table", tabindex: 0, role: "region", "aria-label": "Columns of the file" }, table),
    chosen: () => [...boxes].filter(([, { checked }]) => checked).map(([name]) => name),
  };
}

function mayBeText({ kind }) {
  return kind === "text";
}

function box({ name, role }) {
  const input = h("input", { type: "checkbox", "aria-label": `${name} holds text` });
  input.checked = role === "text";
  return input;
}
