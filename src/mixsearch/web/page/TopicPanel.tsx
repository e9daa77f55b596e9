// The selected topic: one sentence, its words and other meanings, and its documents to judge.

import { useEffect, useRef, useState } from "preact/hooks";
import { drawSample, sendJudgements, shared, type Grouping } from "./api";
import { dayOf, isLink, percent, plural, splitAt, titleOf, whole } from "./format";
import { Judged } from "./Judged";
import { keyOf, nameOf, type Chip } from "./state";
import type { Audit, Groups, ListedDocument, Topic } from "./types";

const MATCHES = { strong: "This is it.", fair: "Probably this.", weak: "Not sure this is what you mean." };
/** Judged documents from which numbers with intervals are worth showing. */
const MIN_JUDGED = 10;
const MAX_PARTS = 2000; // between words that are marked, in a very long text

interface Props {
  index: string;
  chip: Chip;
  position: number;
  topic: Topic;
  hasMore: boolean;
  isDraft: boolean;
  grouping: Grouping;
  onAudit: (groups: Groups | null) => void;
  onMore: () => void;
  onOpen: (document: ListedDocument) => void;
  onChange: (chip: Chip) => void;
  onAdd: (q: string) => void;
  onError: (error: unknown) => void;
}

export function TopicPanel({ index, chip, position, topic, hasMore, isDraft, grouping, onAudit, onMore, onOpen, onChange, onAdd, onError }: Props) {
  const [marks, setMarks] = useState<Map<number, boolean>>(new Map());
  const [audit, setAudit] = useState<Audit | null>(null);
  const [sample, setSample] = useState<ListedDocument[] | null>(null); // drawn to judge, in the place of the best
  const list = useRef<HTMLOListElement>(null);
  const key = keyOf(chip);
  useEffect(() => {
    setMarks(new Map());
    setAudit(null);
    setSample(null);
  }, [index, key]);

  const mark = (row: number, answer: boolean | null) => {
    const changed = new Map(marks);
    if (answer === null || changed.get(row) === answer) changed.delete(row);
    else changed.set(row, answer);
    setMarks(changed);
  };
  useEffect(() => {
    let isGone = false;
    const show = (result: Audit | null) => {
      if (isGone) return;
      setAudit(result);
      onAudit(result?.groups ?? null);
    };
    if (marks.size >= MIN_JUDGED) sendJudgements(index, chip, marks, grouping).then(show, onError);
    else show(null);
    return () => {
      isGone = true;
    };
  }, [marks, grouping.over, grouping.by, grouping.where]);
  const apply = () => {
    const rows = (answer: boolean) => [...marks].filter(([, each]) => each === answer).map(([row]) => row);
    onChange({ ...chip, documents: merged(chip.documents, rows(true)), notDocuments: merged(chip.notDocuments, rows(false)) });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const item = (event.target as HTMLElement).closest<HTMLElement>("[data-row]");
    if (!item || event.ctrlKey || event.metaKey || event.altKey) return;
    const row = Number(item.dataset.row);
    const answers: Record<string, boolean | null> = { y: true, n: false, s: null };
    if (event.key in answers && !shared) {
      event.preventDefault();
      mark(row, answers[event.key] ?? null);
      focusNext(item, 1);
    } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      focusNext(item, event.key === "ArrowDown" ? 1 : -1);
    }
  };
  const documents = sample ?? topic.documents;
  const words = [...topic.words.map(({ word }) => word), ...chip.q.split(/[\s"]+/).filter((word) => word && !word.startsWith("-"))];
  return (
    <section class={`card topic c${position % 8}`} aria-labelledby="topic-title" aria-busy={false}>
      <h1 id="topic-title" tabIndex={-1} dir="auto">
        {isDraft ? topic.hint : nameOf(chip)}
      </h1>
      {topic.read_as && topic.read_as !== topic.hint && !chip.documents.length ? (
        <p class="muted small read-as">
          Read as {topic.read_as}.{" "}
          {/^"[^"]+"$/.test(topic.read_as) && !chip.q.includes('"') ? (
            <button type="button" class="link" onClick={() => onChange({ ...chip, q: split(chip.q) })}>
              Split the phrase
            </button>
          ) : null}
        </p>
      ) : null}
      <p class="sentence">
        {audit?.audit ? (
          <Judged audit={audit.audit} things="documents" />
        ) : (
          <>
            {topic.match ? <span class={`match ${topic.match}`}>{MATCHES[topic.match]}</span> : <span class="match fair">Too few documents to be sure.</span>} <About topic={topic} />
          </>
        )}
      </p>
      <details class="why small">
        <summary>Why?</summary>
        <p>{topic.check[0]?.toUpperCase() + topic.check.slice(1)}.</p>
        {topic.n_containing === null ? null : <p>{plural(topic.n_containing, "document contains", "documents contain")} the words of the search.</p>}
      </details>
      {topic.warnings.length > 0 ? (
        <ul class="notes small">
          {topic.warnings.map(({ code, message }) => (
            <li key={code}>{message}</li>
          ))}
        </ul>
      ) : null}
      <ul class="words" aria-label="Words of the topic">
        {topic.words.map(({ word, share, lift }) => (
          <li key={word}>
            <button type="button" dir="auto" disabled={shared !== null} title={`In ${percent(share)} of its documents, ${lift.toFixed(1)} times as often as elsewhere`} onClick={() => onAdd(word)}>
              {word}
            </button>
          </li>
        ))}
      </ul>
      {topic.alternatives.length > 0 && !shared ? (
        <div class="meanings small">
          <h2>Other things this is used for</h2>
          <ul>
            {topic.alternatives.map((meaning, i) => (
              <li key={i}>
                <button type="button" class="link" dir="auto" onClick={() => onChange({ ...chip, meaning: i })}>
                  {meaning.words.join(", ")}
                </button>{" "}
                {percent(meaning.share)}
              </li>
            ))}
          </ul>
        </div>
      ) : null}
      {shared || isDraft ? null : (
        <p class="small breadth">
          <button type="button" class="link" disabled={chip.narrower <= -3} onClick={() => onChange({ ...chip, narrower: chip.narrower - 1 })}>
            Broader
          </button>{" "}
          <button type="button" class="link" disabled={chip.narrower >= 3} onClick={() => onChange({ ...chip, narrower: chip.narrower + 1 })}>
            Narrower
          </button>
          {chip.meaning === null ? null : (
            <button type="button" class="link" onClick={() => onChange({ ...chip, meaning: null })}>
              All meanings
            </button>
          )}
        </p>
      )}
      <div class="documents-head">
        <h2 id="documents-title" tabIndex={-1}>
          {shared ? "Documents" : "Is this about it?"}
        </h2>
        {shared || isDraft ? null : sample ? (
          <button type="button" class="link small" onClick={() => setSample(null)}>
            Best documents
          </button>
        ) : (
          <button type="button" class="link small" title="Ten documents that tell how many there are" onClick={() => void drawSample(index, chip, marks).then(setSample, onError)}>
            Judge a sample
          </button>
        )}
        {audit?.audit ? (
          <span class="small">
            {whole(audit.audit.n_members.estimate)} ({whole(audit.audit.n_members.low)} to {whole(audit.audit.n_members.high)}) documents
          </span>
        ) : null}
        {marks.size > 0 ? (
          <button type="button" onClick={apply}>
            Apply {plural(marks.size, "mark")}
          </button>
        ) : shared ? null : (
          <span class="muted small">keys y, n, s to skip</span>
        )}
      </div>
      <ol ref={list} class="documents" onKeyDown={onKeyDown}>
        {documents.map((document) => (
          <Item key={document.row} document={document} words={words} mark={marks.get(document.row) ?? null} onOpen={onOpen} onMark={mark} />
        ))}
      </ol>
      {documents.length === 0 ? <p class="muted">No document matches.</p> : null}
      {hasMore && !sample ? (
        <button type="button" onClick={onMore}>
          More documents
        </button>
      ) : null}
    </section>
  );
}

/** About how many documents belong to a topic. */
function About({ topic }: { topic: Topic }) {
  if (topic.n_members === null) return <>{plural(topic.n_documents, "document")}, the most similar first.</>;
  const part = topic.share && topic.share < 0.5 ? ` (1 in ${whole(1 / Math.max(topic.share, 1e-9))})` : "";
  return (
    <>
      About {topic.about} of {plural(topic.n_documents, "document")}
      {topic.n_members >= 0.5 ? part : ""}.
    </>
  );
}

interface ItemProps {
  document: ListedDocument;
  words: string[];
  mark: boolean | null;
  onOpen: (document: ListedDocument) => void;
  onMark: (row: number, answer: boolean | null) => void;
}

function Item({ document, words, mark, onOpen, onMark }: ItemProps) {
  const { row, date, link, snippet } = document;
  const title = titleOf(document);
  const answer = (value: boolean, label: string) => (
    <button
      type="button"
      class={value ? "yes" : "no"}
      aria-pressed={mark === value}
      aria-label={`${label}, ${title} is ${value ? "" : "not "}about it`}
      onClick={() => onMark(row, value)}
    >
      {label}
    </button>
  );
  return (
    <li data-row={row}>
      <h3>
        <button type="button" class="link title" dir="auto" onClick={() => onOpen(document)}>
          {title}
        </button>{" "}
        {date ? <time class="muted small">{dayOf(date)}</time> : null}{" "}
        {isLink(link) ? (
          <a class="small" href={link} target="_blank" rel="noopener noreferrer">
            open
          </a>
        ) : null}
      </h3>
      {snippet === null ? null : (
        <p class="snippet small" dir="auto">
          <Highlighted text={snippet} words={words} />
        </p>
      )}
      {shared ? null : (
        <p class="marks small">
          {answer(true, "Yes")} {answer(false, "No")}
        </p>
      )}
    </li>
  );
}

export function Highlighted({ text, words }: { text: string; words: string[] }) {
  const parts = splitAt(text, words);
  return (
    <>
      {parts.slice(0, MAX_PARTS).map((part, i) => (i % 2 ? <mark key={i}>{part}</mark> : part))}
      {parts.slice(MAX_PARTS).join("")}
    </>
  );
}

function merged(rows: number[], more: number[]): number[] {
  return [...new Set([...rows, ...more])];
}

/** Put quotes around each word, so that words side by side are not a phrase. */
function split(q: string): string {
  return q
    .split(/\s+/)
    .map((word) => `${word}^1`)
    .join(" ");
}

function focusNext(item: HTMLElement, step: number): void {
  const next = step > 0 ? item.nextElementSibling : item.previousElementSibling;
  next?.querySelector<HTMLElement>(".title")?.focus();
}
