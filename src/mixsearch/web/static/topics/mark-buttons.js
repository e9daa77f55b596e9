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
    const { label, title } = ANSWERS[answer];
    const said = `${label}, ${name} is ${answer === "no" ? "not " : ""}about it`;
    const click = () => {
      mark = mark === answer ? null : answer;
      show(); // at once: the answer that follows takes a while
      press(mark);
    };
    return h("button", { type: "button", title, class: `mark ${answer}`, "aria-label": said, "data-key": `${key} ${answer}`, on: { click } }, label);
  };
  const yes = button("yes");
  const no = button("no");
  const show = () => {
    yes.setAttribute("aria-pressed", String(mark === "yes"));
    no.setAttribute("aria-pressed", String(mark === "no"));
  };
  show();
  return h("span", { class: "marks small" }, h("span", { class: "muted" }, "About it?"), yes, no);
}
