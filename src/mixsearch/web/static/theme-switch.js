// The theme: light, dark, or as in the system.

import { h, replace, svg } from "./shared/dom.js";
import { remember } from "./shared/memory.js";

const NAMES = { auto: "as the system", light: "light", dark: "dark" };
const NEXT = { auto: "light", light: "dark", dark: "auto" };

/** Create a button that cycles through the three themes. */
export function themeSwitch() {
  const button = h("button", { type: "button", class: "button plain icon", id: "theme" });
  const root = document.documentElement;
  const show = () => {
    const theme = root.dataset.theme ?? "auto";
    button.setAttribute("aria-label", `Theme: ${NAMES[theme]}. Change to ${NAMES[NEXT[theme]]}.`);
    button.title = `Theme: ${NAMES[theme]}`;
    replace(button, picture(theme));
  };
  button.addEventListener("click", () => {
    const theme = NEXT[root.dataset.theme ?? "auto"];
    if (theme === "auto") delete root.dataset.theme;
    else root.dataset.theme = theme;
    remember("localStorage", "theme", theme);
    show();
  });
  show();
  return button;
}

function picture(theme) {
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
