// Colours of segments, as the server sends them.

/** Set the color of a segment, with a black or white number for contrast. */
export function paint(element, colour) {
  element.style.setProperty("background-color", colour);
  element.style.setProperty("color", lightness(colour) > 0.18 ? "#000" : "#fff");
}

/** Return the relative luminance of #rrggbb (WCAG). */
function lightness(colour) {
  const [red, green, blue] = [1, 3, 5].map((start) => {
    const part = parseInt(colour.slice(start, start + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
