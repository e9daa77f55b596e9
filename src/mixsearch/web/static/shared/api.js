// HTTP requests: answers are plain objects, errors are ApiError.

const NO_CONNECTION = "The server does not answer. It may have been stopped: start it again, and the page goes on by itself.";
const NO_ANSWER = "The server sent an invalid answer. Try again.";

const SIGNED_OUT = "unauthorized";

export class ApiError extends Error {
  /**
   * @param {number} status
   * @param {string} code
   * @param {string} message
   * @param {{fields?: Record<string, any>, word?: string | null, suggestions?: string[]}} [facts]
   */
  constructor(status, code, message, { fields = {}, word = null, suggestions = [] } = {}) {
    super(message);
    this.name = "ApiError";
    this.status = status;
    this.code = code;
    this.fields = fields;
    this.word = word;
    this.suggestions = suggestions;
  }
}

/**
 * Return a relative address, since the page may have any prefix. Lists repeat a parameter; null and "" omit it.
 * @param {string} path
 * @param {object} [params]
 */
export function url(path, params = {}) {
  const query = queryOf(params).toString();
  return query ? `${path}?${query}` : path;
}

/** @param {object} params */
export function queryOf(params) {
  if (params instanceof URLSearchParams) return params;
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) {
    for (const each of [value].flat()) {
      if (each !== null && each !== undefined && each !== "" && each !== false) query.append(name, each);
    }
  }
  return query;
}

/**
 * Ask about one state of an index, if a tag is given, or for an answer that the browser has not kept.
 * @typedef {{signal?: AbortSignal, tag?: string | null, isFresh?: boolean}} Asking
 */

/** @param {string} path @param {object} [params] @param {Asking} [asking] */
export function get(path, params = {}, asking = {}) {
  return request(url(path, params), optionsOf(asking));
}

/** @param {Asking} asking @returns {RequestInit} */
function optionsOf({ signal, tag = null, isFresh = false }) {
  return { signal, headers: tag === null ? {} : { "If-Match": tag }, cache: isFresh ? "reload" : "default" };
}

/**
 * Send a request with a body: blobs and files as they are, anything else as JSON.
 * @param {string} method
 * @param {string} path
 * @param {any} [body]
 * @param {{signal?: AbortSignal}} [options]
 */
export function send(method, path, body = null, { signal } = {}) {
  const isRaw = body === null || body instanceof Blob || body instanceof ArrayBuffer;
  /** @type {Record<string, string>} */
  const headers = isRaw ? {} : { "Content-Type": "application/json" };
  return request(path, { method, headers, signal, body: isRaw ? body : JSON.stringify(body) });
}

/**
 * Send a file with a report of how much of it has been sent; fetch has none.
 * @param {string} address
 * @param {Blob} file
 * @param {{onProgress: (done: number, total: number) => void, signal: AbortSignal}} options
 * @returns {Promise<any>}
 */
export function upload(address, file, { onProgress, signal }) {
  const sending = new XMLHttpRequest();
  return new Promise((resolve, reject) => {
    sending.open("POST", address);
    sending.responseType = "text";
    sending.upload.addEventListener("progress", ({ loaded }) => onProgress(loaded, file.size));
    sending.addEventListener("load", () => {
      const body = jsonOf(sending.responseText);
      if (sending.status < 300 && body !== undefined) resolve(body);
      else reject(failureOf(sending.status, body));
    });
    sending.addEventListener("error", () => reject(new ApiError(0, "no_connection", NO_CONNECTION)));
    sending.addEventListener("abort", () => reject(new DOMException("The upload was cancelled.", "AbortError")));
    signal.addEventListener("abort", () => sending.abort());
    sending.send(file);
  });
}

function jsonOf(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** @param {string} address @param {RequestInit} options @param {(response: Response) => Promise<any>} [read] @returns {Promise<any>} */
async function request(address, options, read = parsed) {
  let response;
  try {
    response = await fetch(address, { credentials: "same-origin", ...options });
  } catch (error) {
    if (isAbort(error)) throw error;
    throw new ApiError(0, "no_connection", NO_CONNECTION);
  }
  if (response.status === 204) return null;
  const body = await (response.ok ? read : parsed)(response);
  if (body?.error?.code === SIGNED_OUT) location.reload(); // the server then asks for its token, and leads back here
  if (!response.ok) throw failureOf(response.status, body);
  if (body === undefined) throw new ApiError(response.status, "bad_answer", NO_ANSWER);
  return body;
}

async function parsed(response) {
  try {
    return await response.json();
  } catch (error) {
    if (isAbort(error)) throw error;
    return undefined;
  }
}

/**
 * Return whether the page itself aborted a request.
 * @param {unknown} error
 */
export function isAbort(error) {
  return (error instanceof Error || error instanceof DOMException) && error.name === "AbortError";
}

function failureOf(status, body) {
  const { code = "failed", message, ...facts } = body?.error ?? {};
  return new ApiError(status, code, message ?? `The server refused this (status ${status}).`, facts);
}

/** Requests of which only the latest matters. */
export class Newest {
  /** @type {AbortController | null} */
  #controller = null;

  /**
   * Abort the previous request and send this one. The result is null if it is aborted itself.
   * @param {(signal: AbortSignal) => Promise<any>} question
   * @returns {Promise<{answer?: any, error?: any} | null>}
   */
  async ask(question) {
    this.stop();
    const controller = new AbortController();
    this.#controller = controller;
    try {
      const answer = await question(controller.signal);
      return controller.signal.aborted ? null : { answer };
    } catch (error) {
      if (controller.signal.aborted || isAbort(error)) return null;
      return { error };
    }
  }

  stop() {
    this.#controller?.abort();
  }
}
