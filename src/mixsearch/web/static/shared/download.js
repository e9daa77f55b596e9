// Downloads that the page creates itself.

import { svg } from "./dom.js";
import { fileName } from "./file-name.js";

// Style properties that are copied into exported SVG as attributes.
const STYLED = [
  "fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray", "stroke-linecap",
  "opacity", "font-size", "font-weight", "font-style", "text-anchor", "dominant-baseline", "paint-order", "visibility",
];
const FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif";
const SCALE = 2;

/**
 * Save an SVG element of the page as an image in light colors.
 * @param {SVGSVGElement} element
 * @param {string} name
 * @param {"svg" | "png"} kind
 */
export async function savePicture(element, name, kind) {
  const picture = freeStanding(element);
  const text = new XMLSerializer().serializeToString(picture);
  const file = new Blob([text], { type: "image/svg+xml" });
  save(kind === "png" ? await drawn(file, picture) : file, `${fileName(name)}.${kind}`);
}

/** Save a text; the name includes the extension. */
export function saveText(text, name, type = "text/plain") {
  const dot = name.lastIndexOf(".");
  save(new Blob([text], { type: `${type};charset=utf-8` }), `${fileName(name.slice(0, dot))}${name.slice(dot)}`);
}

/**
 * Copy an element with its computed styles.
 * @param {SVGSVGElement} element
 */
function freeStanding(element) {
  const copy = /** @type {SVGSVGElement} */ (element.cloneNode(true));
  const before = element.style.colorScheme;
  element.style.colorScheme = "light"; // every light-dark() resolves to its light color now
  const sources = [element, ...element.querySelectorAll("*")];
  const copies = [copy, ...copy.querySelectorAll("*")];
  sources.forEach((source, i) => {
    const style = getComputedStyle(source);
    for (const property of STYLED) copies[i].setAttribute(property, style.getPropertyValue(property));
    copies[i].removeAttribute("class");
    copies[i].removeAttribute("style");
  });
  element.style.colorScheme = before;
  const [x, y, width, height] = boxOf(element);
  const attributes = { viewBox: `${x} ${y} ${width} ${height}`, width, height, "font-family": FONT };
  for (const [attribute, value] of Object.entries(attributes)) copy.setAttribute(attribute, String(value));
  copy.prepend(svg("rect", { x, y, width, height, fill: "#ffffff" }));
  return copy;
}

/** @param {SVGSVGElement} element */
function boxOf(element) {
  const { x, y, width, height } = element.viewBox.baseVal ?? {};
  if (width) return [x, y, width, height];
  const shown = element.getBoundingClientRect();
  return [0, 0, shown.width, shown.height];
}

async function drawn(file, picture) {
  const address = URL.createObjectURL(file);
  try {
    const image = new Image();
    image.src = address;
    await image.decode();
    const canvas = document.createElement("canvas");
    canvas.width = SCALE * Number(picture.getAttribute("width"));
    canvas.height = SCALE * Number(picture.getAttribute("height"));
    canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
    /** @type {Blob | null} */
    const blob = await new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
    if (!blob) throw new Error("The browser could not draw the picture: it is too large.");
    return blob;
  } finally {
    URL.revokeObjectURL(address);
  }
}

function save(blob, name) {
  const address = URL.createObjectURL(blob);
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000); // the browser reads it after the click
}
