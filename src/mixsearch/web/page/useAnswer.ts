// An answer of the server, which follows its address.

import { useEffect, useState } from "preact/hooks";
import { get, isAbort } from "./api";

/** Wait for a request, again when its address changes; what was there before stays until then. */
export function useAnswer<T>(path: string | null, onError: (error: unknown) => void): [T | null, boolean] {
  const [answer, setAnswer] = useState<{ path: string; body: T } | null>(null);
  const [failed, setFailed] = useState<string | null>(null);
  useEffect(() => {
    if (path === null) return undefined;
    const controller = new AbortController();
    get<T>(path, undefined, controller.signal).then(
      (body) => setAnswer({ path, body }),
      (error: unknown) => {
        if (isAbort(error)) return;
        setFailed(path);
        onError(error);
      },
    );
    return () => controller.abort();
  }, [path]);
  return [path === null ? null : (answer?.body ?? null), path !== null && answer?.path !== path && failed !== path];
}
