// Names of files.

/** Return a file name that is valid everywhere. */
export function fileName(name) {
  const plain = name.normalize("NFC").replace(/[^\p{L}\p{N}._-]+/gu, "-").replace(/^[-.]+|[-.]+$/g, "");
  return plain.slice(0, 80) || "mixsearch";
}
