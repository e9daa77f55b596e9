// Runs before the first paint, so that a chosen theme does not flash in after the other one; hence no module.

const chosenTheme = (() => {
  try {
    return localStorage.getItem("mixsearch-theme");
  } catch {
    return null; // storage may be forbidden
  }
})();
if (chosenTheme === "light" || chosenTheme === "dark") document.documentElement.dataset.theme = chosenTheme;
