// The pictures that were uploaded from this page.

import { ApiError, get, send } from "../shared/api.js";
import { fitted } from "./upload.js";

/** @typedef {{picture: string, width: number, height: number, warnings: {message: string}[]}} Picture */

/** @type {Map<string, {name: string, body: Blob, from: {width: number, height: number} | null}>} By the name of the image, in case the server drops it. */
const files = new Map();

/** Upload a file, smaller if the server would refuse it. @param {File} file @returns {Promise<Picture>} */
export async function upload(file, limits) {
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
export function titleOf({ picture, width, height, warnings }, example) {
  const { name, from } = picture === example ? { name: "Example", from: null } : (files.get(picture) ?? {});
  const shrunk = from ? `, shrunk from ${from.width} × ${from.height}` : "";
  const notes = warnings.map(({ message }) => `. ${message}`).join("");
  return `${name ? `${name}, ` : ""}${width} × ${height} pixels${shrunk}${notes}`;
}

/** Return how the names of files about an image begin. @param {Picture} picture */
export function stemOf({ picture }, example) {
  return picture === example ? picture : (files.get(picture)?.name ?? "").replace(/\.[^.]*$/, "") || "picture";
}
