// The theme: as the system, light or dark.

import { useEffect, useState } from "preact/hooks";

const THEMES = ["auto", "light", "dark"];

export function ThemeButton() {
  const stored = () => {
    try {
      return localStorage.getItem("theme") ?? "auto";
    } catch {
      return "auto";
    }
  };
  const [theme, setTheme] = useState(stored);
  useEffect(() => {
    if (theme === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    try {
      localStorage.setItem("theme", theme);
    } catch {
      // a browser that stores nothing
    }
  }, [theme]);
  const next = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] ?? "auto";
  return (
    <button type="button" title={`Change to ${next}`} onClick={() => setTheme(next)}>
      Theme: {theme}
    </button>
  );
}
