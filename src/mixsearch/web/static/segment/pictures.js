// Pictures: dropped, chosen, pasted or the example, shrunk if the server would refuse them, and sent.

import { ApiError, get, send } from "../shared/api.js";
import { h } from "../shared/dom.js";
import { onDraggedFiles, picker } from "../shared/files.js";

const SHRUNK_QUALITY = 0.92;

/** @typedef {{picture: string, width: number, height: number}} Picture */

/** @type {Map<string, {name: string, body: Blob, from: {width: number, height: number} | null}>} By the name of the image, in case the server drops it. */
const files = new Map();

/** Upload a file, smaller if the server would refuse it. @param {File} file @returns {Promise<Picture>} */
export async function sendPicture(file, limits) {
  return sendFile({ name: file.name, ...(await fitted(file, limits)) });
}

/** Upload an image again that the server has dropped; null if it was not uploaded from here. @param {string} name @returns {Promise<Picture | null>} */
export function uploadAgain(name) {
  const file = files.get(name);
  return file ? sendFile(file) : Promise.resolve(null);
}

async function sendFile(file) {
  const picture = await send("POST", "api/pictures", file.body);
  files.set(picture.picture, file);
  return picture;
}

/** Return the size of an image that the server has, or bring it there again. @param {string} name @returns {Promise<Picture>} */
export async function load(name) {
  try {
    return await get(`api/pictures/${encodeURIComponent(name)}`);
  } catch (error) {
    const again = isGone(error) ? await uploadAgain(name) : null;
    if (again === null) throw error;
    return again;
  }
}

/**
 * Return whether the server has dropped the image.
 * @param {unknown} error
 */
export function isGone(error) {
  return error instanceof ApiError && error.code === "gone";
}

/** Describe an image: its name if it has one, its size, and what it was shrunk from. @param {Picture} picture */
export function titleOf({ picture, width, height }, example) {
  const { name, from } = picture === example ? { name: "Example", from: null } : (files.get(picture) ?? {});
  const shrunk = from ? `, shrunk from ${from.width} × ${from.height}` : "";
  return `${name ? `${name}, ` : ""}${width} × ${height} pixels${shrunk}`;
}

/** Return how the names of files about an image begin. @param {Picture} picture */
export function stemOf({ picture }, example) {
  return picture === example ? picture : (files.get(picture)?.name ?? "").replace(/\.[^.]*$/, "") || "picture";
}

/** Create a button to choose an image of these formats. */
export function imagePicker(label, formats, upload, className) {
  return picker(label, formats.map((format) => `image/${format.toLowerCase()}`), upload, className);
}

/** Create the view without an image. */
export function invitation(formats, { upload, example }) {
  return h(
    "section",
    { class: "segment-drop", "aria-label": "Upload an image" },
    h("h1", {}, "Segment an image"),
    h("p", {}, "Drop a picture here, paste it, or choose a file. Then click a spot of each part that you want: the page outlines all of it."),
    h(
      "div",
      { class: "toolbar" },
      imagePicker("Choose a picture", formats, upload),
      h("button", { type: "button", class: "button plain", on: { click: example } }, "Try the example"),
    ),
    h("p", { class: "small muted" }, `${formats.slice(0, -1).join(", ")} or ${formats.at(-1)}. It stays in the memory of this server, and goes nowhere else.`),
  );
}

/** Listen for images dropped or pasted anywhere on the page; the returned function stops it. */
export function listen({ upload, refused, hovering }) {
  const take = (data) => {
    const [file] = data.files;
    if (file) upload(file);
    else refused(new Error("That isn't a file. Save the picture first, and drop the file."));
  };
  const paste = (event) => event.clipboardData?.files.length > 0 && take(event.clipboardData);
  const stop = onDraggedFiles({ hovering, dropped: (event) => take(event.dataTransfer) }, { takesAll: true });
  document.addEventListener("paste", paste);
  return () => {
    stop();
    document.removeEventListener("paste", paste);
  };
}

/**
 * Return a file that the server accepts: a photo beyond its limits is shrunk here. What the browser cannot decode is sent
 * as it is, and the server says what is wrong with it.
 * @param {File} file
 * @param {{max_pixels: number, max_upload: number}} limits
 * @returns {Promise<{body: Blob, from: {width: number, height: number} | null}>}
 */
async function fitted(file, { max_pixels: maxPixels, max_upload: maxBytes }) {
  const image = await decoded(file);
  if (image === null) return { body: file, from: null };
  try {
    const { width, height } = image;
    if (width * height <= maxPixels && file.size <= maxBytes) return { body: file, from: null };
    const scale = Math.min(Math.sqrt(maxPixels / (width * height)), 1);
    const body = await drawn(image, Math.floor(width * scale), Math.floor(height * scale));
    return body === null ? { body: file, from: null } : { body, from: { width, height } };
  } finally {
    image.close();
  }
}

/** @param {File} file @returns {Promise<ImageBitmap | null>} */
async function decoded(file) {
  try {
    return await createImageBitmap(file);
  } catch {
    return null;
  }
}

/** @param {ImageBitmap} image @returns {Promise<Blob | null>} */
function drawn(image, width, height) {
  const canvas = h("canvas", { width, height });
  canvas.getContext("2d")?.drawImage(image, 0, 0, width, height);
  return new Promise((resolve) => canvas.toBlob(resolve, "image/jpeg", SHRUNK_QUALITY));
}
