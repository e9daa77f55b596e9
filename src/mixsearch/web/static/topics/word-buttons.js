// Buttons that add a word to the search, exclude it, or remove it.

import { h } from "../shared/dom.js";

/** Create the button of a word: a click adds or removes it, a shift-click excludes it. */
export function wordButton(word, wanted, act, props, ...children) {
  const isIn = wanted.has(word.toLowerCase());
  const press = (event) => {
    if (event.shiftKey) act.exclude(word);
    else if (isIn) act.drop(word);
    else act.add(word);
  };
  return h(
    "button",
    {
      type: "button",
      title: isIn ? `Remove ${word} from the search` : `Add ${word}; with Shift, exclude it`,
      ...props,
      class: `${props.class} ${isIn ? (wanted.get(word.toLowerCase()) ? "is-wanted" : "is-avoided") : ""}`,
      "data-key": `word ${word}`,
      on: { click: press },
    },
    word,
    isIn ? h("span", { class: "visually-hidden" }, " (in the search)") : null,
    children,
  );
}

/** Create plus and minus buttons, for keyboards and touch screens. */
export function wordTools(word, wanted, act) {
  const isIn = wanted.has(word.toLowerCase());
  return h(
    "span",
    { class: "word-tools" },
    isIn
      ? tool("×", `Remove ${word} from the search`, `drop ${word}`, () => act.drop(word))
      : tool("+", `Add ${word} to the search`, `add ${word}`, () => act.add(word)),
    tool("−", `Exclude ${word} from the search`, `exclude ${word}`, () => act.exclude(word)),
  );
}

function tool(sign, label, key, click) {
  const props = { type: "button", class: "tool", title: label, "aria-label": label, "data-key": key };
  return h("button", { ...props, on: { click } }, sign);
}
