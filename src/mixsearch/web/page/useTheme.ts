// Changes of the colours of the page.

import { useEffect, useState } from "preact/hooks";

/** How often the colours have changed. */
export function useTheme(): number {
  const [n, setN] = useState(0);
  useEffect(() => {
    const change = () => setN((before) => before + 1);
    const observer = new MutationObserver(change);
    const dark = matchMedia("(prefers-color-scheme: dark)");
    observer.observe(document.documentElement, { attributeFilter: ["data-theme"] });
    dark.addEventListener("change", change);
    return () => {
      observer.disconnect();
      dark.removeEventListener("change", change);
    };
  }, []);
  return n;
}
