// Files that are dropped anywhere on a page, or pasted.

import { useEffect, useRef, useState } from "preact/hooks";

/** Take files; returns whether one is held over the page. */
export function useDrop(onFile: (file: File) => void): boolean {
  const [isOver, setOver] = useState(false);
  const latest = useRef(onFile);
  latest.current = onFile;
  useEffect(() => {
    const onDrag = (event: DragEvent) => {
      if (!event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      setOver(event.type === "dragenter" || event.type === "dragover");
    };
    const take = (event: Event, data: DataTransfer | null) => {
      const file = data?.files[0];
      if (!file) return;
      event.preventDefault();
      latest.current(file);
    };
    const onDrop = (event: DragEvent) => {
      onDrag(event);
      take(event, event.dataTransfer);
    };
    const onPaste = (event: ClipboardEvent) => take(event, event.clipboardData);
    const drags = ["dragenter", "dragover", "dragleave"] as const;
    for (const name of drags) addEventListener(name, onDrag);
    addEventListener("drop", onDrop);
    addEventListener("paste", onPaste);
    return () => {
      for (const name of drags) removeEventListener(name, onDrag);
      removeEventListener("drop", onDrop);
      removeEventListener("paste", onPaste);
    };
  }, []);
  return isOver;
}
