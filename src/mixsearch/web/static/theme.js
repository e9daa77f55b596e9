// Not a module: it runs before the first paint, so that the page does not flash in the wrong theme.

const chosenTheme = (() => {
  try {
    return localStorage.getItem("mixsearch-theme");
  } catch {
    return null; // storage may be forbidden
  }
})();
if (chosenTheme === "light" || chosenTheme === "dark") document.documentElement.dataset.theme = chosenTheme;
