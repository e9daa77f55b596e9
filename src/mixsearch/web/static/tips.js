// Tooltips for those who do not hover: they appear with the focus, and at a tap.

import { h } from "./shared/dom.js";

const FOCUSABLE = "a[href], button, input, select, textarea, summary, [tabindex='0']";
const GAP = 6;

const bubble = h("div", { id: "tip", class: "tip", role: "tooltip", hidden: true });

/** Listen on the whole page. The browser itself shows titles to a mouse. */
export function showTips() {
  document.body.append(bubble);
  document.addEventListener("focusin", ({ target }) => {
    if (target instanceof Element && target.matches(":focus-visible")) show(target, ownTip(target));
  });
  document.addEventListener("focusout", hide);
  document.addEventListener("scroll", hide, { passive: true, capture: true });
  document.addEventListener("keydown", ({ key }) => key === "Escape" && hide());
  document.addEventListener("pointerup", ({ target, pointerType }) => {
    hide();
    const titled = target instanceof Element ? target.closest("[title]") : null;
    if (pointerType === "touch" && titled) show(titled, titled.getAttribute("title"));
  });
  new MutationObserver(reach).observe(document.body, { childList: true, subtree: true, attributeFilter: ["title"] });
  reach();
}

/** Let the Tab key reach what has a tooltip and could not be reached. */
function reach() {
  for (const each of document.querySelectorAll("main [title]:not([tabindex])")) {
    if (each.closest(FOCUSABLE) || each.querySelector(FOCUSABLE) || each.closest("[aria-hidden=true]")) continue;
    each.setAttribute("tabindex", each.closest("[data-roving]") ? "-1" : "0"); // arrow keys reach it there
  }
}

function ownTip(element) {
  return element.getAttribute("title") ?? element.querySelector("[title]")?.getAttribute("title") ?? null;
}

function show(element, text) {
  if (!text) return;
  bubble.textContent = text;
  bubble.hidden = false;
  const at = element.getBoundingClientRect();
  const { width, height } = bubble.getBoundingClientRect();
  const left = Math.min(Math.max(at.left, GAP), document.documentElement.clientWidth - width - GAP);
  const below = at.bottom + GAP;
  const top = below + height < innerHeight ? below : at.top - height - GAP;
  bubble.style.left = `${Math.max(left, GAP)}px`;
  bubble.style.top = `${Math.max(top, GAP)}px`;
}

function hide() {
  bubble.hidden = true;
}
