// Files that are sent to the server, with progress, and pictures that are shrunk first if the server would refuse them.

import { ApiError, NO_CONNECTION, send } from "./api";

const SHRUNK_QUALITY = 0.92;

export interface Settings {
  accepts_files: boolean;
  max_file: number;
  max_pixels: number;
  max_name_length: number;
  table_suffixes: string[];
  image_suffixes: string[];
}

export interface Size {
  width: number;
  height: number;
}

/** Send a file; fetch does not report how much of it has been sent. */
export function upload<T>(name: string, file: Blob, signal: AbortSignal, onProgress: (done: number) => void = () => {}): Promise<T> {
  const sending = new XMLHttpRequest();
  return new Promise((resolve, reject) => {
    sending.open("POST", `api/files?${new URLSearchParams({ name })}`);
    sending.responseType = "json";
    sending.upload.addEventListener("progress", ({ loaded }) => onProgress(loaded));
    sending.addEventListener("load", () => {
      const error = sending.response?.error;
      if (sending.status < 300 && sending.response) resolve(sending.response as T);
      else reject(new ApiError(error?.code ?? "failed", error?.message ?? `The server refused this (status ${sending.status}).`, error?.fields));
    });
    sending.addEventListener("error", () => reject(new ApiError("no_connection", NO_CONNECTION)));
    sending.addEventListener("abort", () => reject(new DOMException("The upload was cancelled.", "AbortError")));
    signal.addEventListener("abort", () => sending.abort());
    sending.send(file);
  });
}

/** A step of building an index, and how much of it is done. */
export interface Step {
  step: string;
  done: number;
  total: number | null;
  unit: string;
}

/** Build the index of a file, whose progress comes as events; return its name. */
export async function build(file: string, text: string[], signal: AbortSignal, onStep: (step: Step) => void): Promise<string> {
  const response = await send("POST", "api/indexes", { file, text }, signal);
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  for (let rest = ""; reader; ) {
    const { value, done } = await reader.read();
    if (done) break;
    const events = (rest + value).split("\n\n");
    rest = events.pop() ?? "";
    for (const event of events) {
      const facts = JSON.parse(event.slice("data: ".length)) as Step & { index?: string; error?: { code: string; message: string } };
      if (facts.error) throw new ApiError(facts.error.code, facts.error.message);
      if (facts.index) return facts.index;
      onStep(facts);
    }
  }
  throw new ApiError("no_connection", NO_CONNECTION);
}

/** Whether a file is a picture, by its type or its name. */
export function isPicture(file: File, { image_suffixes: suffixes }: Settings): boolean {
  return file.type.startsWith("image/") || suffixes.some((suffix) => file.name.toLowerCase().endsWith(suffix));
}

/** The name under which a picture is sent: the server goes by the suffix. */
export function pictureName(file: File, { image_suffixes: suffixes }: Settings): string {
  return suffixes.some((suffix) => file.name.toLowerCase().endsWith(suffix)) ? file.name : `${file.name}.png`;
}

/** The size at which the server takes a picture. */
export function fittedSize({ width, height }: Size, { max_pixels: most }: Settings): Size {
  const scale = Math.min(Math.sqrt(most / (width * height)), 1);
  return { width: Math.floor(width * scale), height: Math.floor(height * scale) };
}

/** The picture as the server takes it: a photo beyond its limits is shrunk here. */
export async function fitted(file: File, settings: Settings): Promise<Blob> {
  const image = await createImageBitmap(file).catch(() => null);
  if (image === null) return file; // the server says what is wrong with it
  const size = fittedSize(image, settings);
  if (size.width === image.width && file.size <= settings.max_file) return file;
  const canvas = Object.assign(document.createElement("canvas"), size);
  canvas.getContext("2d")?.drawImage(image, 0, 0, size.width, size.height);
  image.close();
  return (await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, "image/jpeg", SHRUNK_QUALITY))) ?? file;
}
