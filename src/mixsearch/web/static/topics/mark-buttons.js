// Whether a document is about the topic: yes, no, or not marked.

import { h } from "../shared/dom.js";

const ANSWERS = {
  yes: { label: "Yes", title: "More documents like this one" },
  no: { label: "No", title: "Not documents like this one" },
};

/**
 * Create the two switches of a document.
 * @param {string} name
 * @param {"yes" | "no" | null} mark how it is marked
 * @param {(mark: "yes" | "no" | null) => void} press
 * @param {string} key names the switches, so that they get the focus back
 */
export function markButtons(name, mark, press, key) {
  const button = (answer) => {
    const isOn = mark === answer;
    const { label, title } = ANSWERS[answer];
    const said = `${label}, ${name} is ${answer === "no" ? "not " : ""}about it`;
    const props = { type: "button", title, "aria-pressed": String(isOn), "aria-label": said };
    const click = () => press(isOn ? null : answer);
    return h("button", { ...props, class: `mark ${answer}`, "data-key": `${key} ${answer}`, on: { click } }, label);
  };
  return h("span", { class: "marks small" }, h("span", { class: "muted" }, "About it?"), button("yes"), button("no"));
}
