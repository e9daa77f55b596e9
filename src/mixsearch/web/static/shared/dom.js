// Creation of elements. Strings become text nodes, never markup, so that no document can inject HTML.

const SVG = "http://www.w3.org/2000/svg";

/**
 * Create an HTML element: h("button", {class: "chip", on: {click: add}, "aria-label": "Add"}, "sushi").
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {Record<string, any>} [props]
 * @param {...any} children
 * @returns {HTMLElementTagNameMap[T]}
 */
export function h(tag, props, ...children) {
  return build(document.createElement(tag), props, children);
}

/**
 * Create an SVG element in the same way.
 * @template {keyof SVGElementTagNameMap} T
 * @param {T} tag
 * @param {Record<string, any>} [props]
 * @param {...any} children
 * @returns {SVGElementTagNameMap[T]}
 */
export function svg(tag, props, ...children) {
  return build(document.createElementNS(SVG, tag), props, children);
}

/**
 * Replace the children of an element.
 * @template {Element} E
 * @param {E} element
 * @param {...any} children
 */
export function replace(element, ...children) {
  element.replaceChildren(...nodes(children));
  return element;
}

/**
 * Return an element of the HTML file.
 * @param {string} id
 * @returns {HTMLElement}
 */
export function byId(id) {
  const element = document.getElementById(id);
  if (element === null) throw new Error(`The page has no element #${id}.`);
  return element;
}

/**
 * @template {HTMLElement | SVGElement} E
 * @param {E} element
 * @param {Record<string, any> | undefined} props
 * @param {any[]} children
 */
function build(element, props, children) {
  for (const [name, value] of Object.entries(props ?? {})) give(element, name, value);
  element.append(...nodes(children));
  return element;
}

/** @param {HTMLElement | SVGElement} element @param {string} name @param {any} value */
function give(element, name, value) {
  if (value === null || value === undefined || value === false) return;
  if (name === "on") {
    for (const [event, listener] of Object.entries(value)) element.addEventListener(event, listener);
  } else if (name === "dataset") {
    Object.assign(element.dataset, value);
  } else if (name === "style") {
    // The content security policy forbids the attribute, not the properties.
    for (const [property, each] of Object.entries(value)) element.style.setProperty(property, each);
  } else {
    element.setAttribute(name, value === true ? "" : value);
  }
}

/** @param {any[]} children @returns {(Node | string)[]} */
function nodes(children) {
  return children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false);
}
