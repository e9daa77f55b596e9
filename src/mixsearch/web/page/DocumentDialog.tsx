// One document with its whole text.

import { useEffect, useRef, useState } from "preact/hooks";
import { fetchDocument, shared } from "./api";
import { dayOf, isLink, titleOf } from "./format";
import { Highlighted } from "./TopicPanel";
import type { FullDocument, ListedDocument } from "./types";

const MAX_VALUE = 300; // letters

interface Props {
  index: string;
  row: number;
  listed: ListedDocument[];
  words: string[];
  onGo: (row: number) => void;
  onClose: () => void;
  onLike: (row: number) => void;
  onError: (error: unknown) => void;
}

export function DocumentDialog({ index, row, listed, words, onGo, onClose, onLike, onError }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [document, setDocument] = useState<FullDocument | null>(null);
  const position = listed.findIndex((each) => each.row === row);

  useEffect(() => {
    const element = dialog.current;
    if (element && !element.open) element.showModal();
  }, []);
  useEffect(() => {
    const here = listed[position];
    if (shared) setDocument(here ? { ...here, text: here.snippet ?? "", is_cut: true } : null);
    else fetchDocument(index, row).then(setDocument, onError);
  }, [index, row]);

  const shown = document ? [titleOf(document), document.link, document.date && dayOf(document.date)] : [];
  const step = (by: number) => {
    const next = listed[position + by];
    if (position >= 0 && next) onGo(next.row);
  };
  return (
    <dialog
      ref={dialog}
      class="document-dialog"
      aria-labelledby="document-title"
      onClose={onClose}
      onClick={(event) => {
        if (event.target === dialog.current) dialog.current?.close();
      }}
      onKeyDown={(event) => {
        if (event.key === "ArrowRight") step(1);
        else if (event.key === "ArrowLeft") step(-1);
      }}
    >
      <header>
        <h2 id="document-title" dir="auto">
          {document ? titleOf(document) : "…"}
        </h2>
        <button type="button" aria-label="Close" onClick={() => dialog.current?.close()}>
          ×
        </button>
      </header>
      {document ? (
        <>
          <p class="muted small">
            {document.date ? `${dayOf(document.date)} · ` : ""}row {document.row}
            {isLink(document.link) ? (
              <>
                {" · "}
                <a href={document.link} target="_blank" rel="noopener noreferrer">
                  open
                </a>
              </>
            ) : null}
          </p>
          <div class="text" dir="auto" tabIndex={0}>
            <Highlighted text={document.text} words={words} />
            {document.is_cut ? " …" : ""}
          </div>
          <dl class="small">
            {Object.entries(document.columns)
              .filter(([, value]) => value !== null && String(value).length <= MAX_VALUE && !shown.includes(String(value)))
              .map(([name, value]) => (
                <div key={name}>
                  <dt>{name}</dt>
                  <dd dir="auto">{String(value)}</dd>
                </div>
              ))}
          </dl>
        </>
      ) : null}
      <footer>
        <button type="button" disabled={position <= 0} onClick={() => step(-1)}>
          Previous
        </button>
        <button type="button" disabled={position < 0 || position >= listed.length - 1} onClick={() => step(1)}>
          Next
        </button>
        {shared ? null : (
          <button type="button" onClick={() => onLike(row)}>
            Documents like this one
          </button>
        )}
      </footer>
    </dialog>
  );
}
