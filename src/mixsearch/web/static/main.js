// The page for files: tables and pictures, and files that become an index of texts. Texts are searched on the page at "./".

import { keep, kept, leaveLayer, onTravel, openLayer, write } from "./history.js";
import { ApiError, get, queryOf, url } from "./shared/api.js";
import { remember } from "./shared/browser.js";
import { byId, h, replace, svg } from "./shared/dom.js";

const VIEWS = {
  table: { title: "Table", load: () => import("./table/table.js") },
  segment: { title: "Segment", load: () => import("./segment/segment.js") },
  open: { title: "Open a file", load: () => import("./open/open.js") },
};

const THEMES = { auto: "as the system", light: "light", dark: "dark" };
const NEXT_THEME = { auto: "light", light: "dark", dark: "auto" };

const root = byId("view");
const notices = byId("notices");
const live = byId("live");
const places = new Map(); // view -> its last address, for its tab

/** @typedef {{max_query_length: number, max_name_length: number, max_upload: number, max_pixels: number, image_formats: string[], example_image: string, accepts_files: boolean, max_file: number, file_suffixes: string[]}} Settings */
/** @typedef {{view: string | null, update?: (state: URLSearchParams) => void, close?: () => void}} Shown */

/** @type {Settings} What the server allows; known before any view is shown. */
let settings;
/** @type {Shown} */
let shown = { view: null };
let turn = 0;
/** @type {File | null} A file that was dropped, until its view takes it. */
let dropped = null;

const page = {
  get settings() {
    return settings;
  },
  get kept() {
    return kept();
  },
  keep,
  openLayer,
  leaveLayer,
  /** Go to a view; facts are kept with its entry. */
  go(view, params = {}, facts = {}) {
    write(addressOf(view, params), { push: true });
    keep(facts);
    showAddress();
  },
  note(params, { push = false } = {}) {
    write(addressOf(viewOf(location), params), { push });
    places.set(viewOf(location), location.search);
  },
  /** Open a file that was dropped or chosen. */
  openFile(file) {
    dropped = file;
    page.go("open");
  },
  takeFile() {
    const file = dropped;
    dropped = null;
    return file;
  },
  /** Search an index that was built just now. */
  openIndex(name) {
    location.assign(url("./", { index: name }));
  },
  announce(sentence) {
    live.textContent = sentence;
  },
  showError(error) {
    const close = h(
      "button",
      { type: "button", class: "button plain icon", "aria-label": "Close", on: { click: clearError } },
      "×",
    );
    replace(notices, h("div", { class: "notice", role: "alert" }, h("p", {}, messageOf(error)), close));
  },
  addressOf,
  follow,
};

function clearError() {
  replace(notices);
}

function viewOf(address) {
  const name = address.pathname.split("/").pop();
  return Object.hasOwn(VIEWS, name) ? name : "open";
}

/** Return the address of a view. */
function addressOf(view, params = {}) {
  return url(view, queryOf(params));
}

async function showAddress() {
  const state = new URLSearchParams(location.search);
  const view = viewOf(location);
  places.set(view, location.search);
  clearError();
  showTabs();
  if (shown.view === view && shown.update) shown.update(state);
  else await openView(view, state);
}

async function openView(view, state) {
  const mine = ++turn;
  try {
    const module = await VIEWS[view].load();
    if (mine !== turn) return;
    shown.close?.();
    shown = { view };
    replace(root);
    root.dataset.view = view;
    document.title = `${VIEWS[view].title} · mixsearch`;
    const result = module.show(root, state, page);
    Object.assign(shown, typeof result === "function" ? { close: result } : result);
  } catch (error) {
    if (mine !== turn) return;
    page.showError(error instanceof ApiError ? error : new Error(`This view could not be shown: ${messageOf(error)}`));
  }
}

/** @param {unknown} error */
function messageOf(error) {
  return error instanceof Error ? error.message : String(error);
}

function showTabs() {
  const tabs = Object.entries(VIEWS).map(([view, { title }]) =>
    h(
      "a",
      {
        href: addressOf(view, paramsOf(view)),
        "aria-current": view === viewOf(location) ? "page" : null,
        on: { click: (event) => follow(event, view, paramsOf(view)) },
      },
      title,
    ),
  );
  replace(byId("tabs"), tabs);
}

/** Return the parameters of a tab: the last state, or from the view itself an empty state. */
function paramsOf(view) {
  return new URLSearchParams(view === viewOf(location) ? "" : places.get(view));
}

/** Go to a view on a plain click; otherwise the browser follows the link. */
function follow(event, view, params = {}) {
  if (event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  page.go(view, params);
}

async function start() {
  try {
    settings = await get("api/settings");
  } catch (error) {
    page.showError(error);
    return;
  }
  replace(byId("tools"), themeSwitch());
  await showAddress();
  await loadRest();
}

/** Load what nobody needs in the first moment. */
async function loadRest() {
  const [{ showTips }, { listenForFiles }] = await Promise.all([import("./tips.js"), import("./shared/files.js")]);
  showTips();
  if (settings.accepts_files) listenForFiles(page);
}

/** Create a button that cycles through the three themes. */
function themeSwitch() {
  const button = h("button", { type: "button", class: "button plain icon", id: "theme" });
  const { dataset } = document.documentElement;
  const show = () => {
    const theme = dataset.theme ?? "auto";
    button.setAttribute("aria-label", `Theme: ${THEMES[theme]}. Change to ${THEMES[NEXT_THEME[theme]]}.`);
    button.title = `Theme: ${THEMES[theme]}`;
    replace(button, themeIcon(theme));
  };
  button.addEventListener("click", () => {
    const theme = NEXT_THEME[dataset.theme ?? "auto"];
    if (theme === "auto") delete dataset.theme;
    else dataset.theme = theme;
    remember("localStorage", "theme", theme);
    show();
  });
  show();
  return button;
}

function themeIcon(theme) {
  const shape = {
    auto: [svg("circle", { cx: 8, cy: 8, r: 5.5, class: "outline" }), svg("path", { d: "M8 2.5a5.5 5.5 0 0 1 0 11z" })],
    light: [svg("circle", { cx: 8, cy: 8, r: 3 }), svg("path", { class: "outline", d: rays() })],
    dark: [svg("path", { d: "M13.5 9.8A5.8 5.8 0 0 1 6.2 2.5a5.8 5.8 0 1 0 7.3 7.3z" })],
  };
  return svg("svg", { viewBox: "0 0 16 16", width: 16, height: 16, "aria-hidden": "true" }, shape[theme]);
}

function rays() {
  const angles = Array.from({ length: 8 }, (_, i) => (i * Math.PI) / 4);
  const point = (angle, r) => `${(8 + r * Math.cos(angle)).toFixed(1)} ${(8 + r * Math.sin(angle)).toFixed(1)}`;
  return angles.map((angle) => `M${point(angle, 5)}L${point(angle, 6.8)}`).join("");
}

onTravel(showAddress);
start();
