// Long lists as one stop of the Tab key: arrow keys move within them.

const MOVES = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
// What has a tooltip can have the focus too.
const CONTROLS = "button, a[href], [tabindex]";

/**
 * Let arrow keys move between the controls of a list: up and down from row to row, left and right within one.
 *
 * Without a selector of rows, all controls are one row and all arrows go along it. Call the returned function when the list
 * has changed.
 * @param {HTMLElement} list
 * @param {string | null} [row]
 * @returns {() => void}
 */
export function rove(list, row = null) {
  /** @returns {HTMLElement[][]} */
  const rows = () => {
    const parts = row === null ? [list] : [...list.querySelectorAll(row)];
    return parts.map((part) => /** @type {HTMLElement[]} */ ([...part.querySelectorAll(CONTROLS)])).filter((each) => each.length > 0);
  };
  const choose = (chosen) => {
    for (const control of rows().flat()) control.tabIndex = control === chosen ? 0 : -1;
  };
  const refresh = () => {
    const controls = rows().flat();
    choose(controls.find((control) => control === document.activeElement) ?? controls[0]);
  };
  list.dataset.roving = "";
  list.addEventListener("focusin", ({ target }) => {
    if (rows().flat().includes(/** @type {HTMLElement} */ (target))) choose(target);
  });
  list.addEventListener("keydown", (event) => {
    const next = nextOf(rows(), event);
    if (!next) return;
    event.preventDefault();
    next.focus();
  });
  refresh();
  return refresh;
}

/** @param {HTMLElement[][]} rows @param {KeyboardEvent} event @returns {HTMLElement | undefined} */
function nextOf(rows, { key, target, ctrlKey, metaKey, altKey }) {
  const i = rows.findIndex((row) => row.includes(/** @type {HTMLElement} */ (target)));
  if (i < 0 || ctrlKey || metaKey || altKey) return undefined;
  const j = rows[i].indexOf(/** @type {HTMLElement} */ (target));
  if (key === "Home") return rows[0][0];
  if (key === "End") return rows[rows.length - 1][0];
  if (!(key in MOVES)) return undefined;
  const [down, across] = MOVES[key];
  if (rows.length === 1) return rows[0][j + down + across];
  return down === 0 ? rows[i][j + across] : rows[i + down]?.[Math.min(j, rows[i + down].length - 1)];
}
