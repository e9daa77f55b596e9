// The shell: which view the address asks for, of which index, and what all views share.

import { ApiError, get, queryOf, url } from "./api.js";
import { h, replace } from "./dom.js";
import { onPins, pinsOf } from "./pins.js";
import { themeSwitch } from "./theme-switch.js";

const VIEWS = {
  topics: { title: "Topics", load: () => import("./topics.js") },
  overview: { title: "Overview", load: () => import("./overview.js") },
  compare: { title: "Compare", load: () => import("./compare.js") },
  segment: { title: "Segment", load: () => import("./segment.js") },
};

const root = document.getElementById("view");
const notices = document.getElementById("notices");
const live = document.getElementById("live");

let indexes = [];
let index = null;
let shown = { view: null };
let turn = 0;

const page = {
  get index() {
    return index;
  },
  go(view, params = {}) {
    history.pushState(null, "", addressOf(view, params));
    showAddress();
  },
  note(params, { push = false } = {}) {
    const address = addressOf(viewOf(location), params);
    if (push) history.pushState(null, "", address);
    else history.replaceState(null, "", address);
    showTabs();
  },
  announce(sentence) {
    live.textContent = sentence;
  },
  tell(error) {
    const close = h("button", { type: "button", class: "button plain icon", "aria-label": "Close", on: { click: hush } }, "×");
    replace(notices, h("div", { class: "notice", role: "alert" }, h("p", {}, error?.message ?? String(error)), close));
  },
  addressOf,
};

function hush() {
  replace(notices);
}

function viewOf(address) {
  const name = address.pathname.split("/").pop();
  return Object.hasOwn(VIEWS, name) ? name : "topics";
}

/** The address of a view. The index is named where there is a choice. */
function addressOf(view, params = {}) {
  const query = new URLSearchParams(queryOf(params));
  query.delete("index");
  const path = view === "topics" ? "./" : view;
  return url(path, indexes.length > 1 && index ? new URLSearchParams([["index", index.name], ...query]) : query);
}

async function showAddress() {
  const state = new URLSearchParams(location.search);
  const view = viewOf(location);
  const wanted = indexes.find(({ name }) => name === state.get("index")) ?? indexes[0] ?? null;
  const isSame = shown.view === view && index === wanted;
  index = wanted;
  hush();
  showTabs();
  if (isSame && shown.update) {
    shown.update(state);
    return;
  }
  await openView(view, state);
}

async function openView(view, state) {
  const mine = ++turn;
  try {
    const module = await VIEWS[view].load();
    if (mine !== turn) return;
    shown.close?.();
    replace(root);
    root.dataset.view = view;
    document.title = `${VIEWS[view].title} · mixsearch`;
    const result = module.show(root, state, page);
    shown = { view, ...(typeof result === "function" ? { close: result } : result) };
  } catch (error) {
    if (mine === turn) page.tell(error instanceof ApiError ? error : new Error(`This view could not be shown: ${error.message}`));
  }
}

function showTabs() {
  const current = viewOf(location);
  const n = index ? pinsOf(index).length : 0;
  const tabs = Object.entries(VIEWS).map(([view, { title }]) =>
    h(
      "a",
      {
        href: addressOf(view, paramsOf(view)),
        "aria-current": view === current ? "page" : null,
        on: { click: (event) => follow(event, view) },
      },
      title,
      view === "compare" && n > 0 ? h("span", { class: "count", title: `${n} pinned` }, n, h("span", { class: "visually-hidden" }, " pinned")) : null,
    ),
  );
  replace(document.getElementById("tabs"), tabs);
}

function paramsOf(view) {
  return view === "compare" && index ? { topic: pinsOf(index) } : {};
}

/** Links stay links: another button or key opens them elsewhere. */
function follow(event, view) {
  if (event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  page.go(view, paramsOf(view));
}

function showTools() {
  const choice = h(
    "select",
    { id: "index", "aria-label": "Index", on: { change: (event) => chooseIndex(event.target.value) } },
    indexes.map(({ name }) => h("option", { value: name, selected: name === index?.name }, name)),
  );
  replace(document.getElementById("tools"), indexes.length > 1 ? choice : null, themeSwitch());
}

function chooseIndex(name) {
  index = indexes.find((each) => each.name === name);
  shown = { ...shown, update: undefined };
  page.go(viewOf(location));
}

async function start() {
  try {
    indexes = (await get("api/indexes")).indexes;
  } catch (error) {
    page.tell(error);
  }
  await showAddress();
  showTools();
}

window.addEventListener("popstate", () => {
  showAddress();
  showTools();
});
onPins(showTabs);
showTools();
start();
