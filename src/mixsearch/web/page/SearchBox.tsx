// The box with topic chips, and an input for one more.

import { useEffect, useRef, useState } from "preact/hooks";
import { fetchWords, shared } from "./api";
import { MAX_CHIPS, nameOf, type Chip } from "./state";

const MAX_QUERY = 1000;
const N_WORDS = 8; // that the server lists at most: fewer are all there are

interface Props {
  index: string;
  chips: Chip[];
  selected: number;
  draft: string;
  onInput: (draft: string) => void;
  onCommit: (query: string) => void;
  onSelect: (i: number) => void;
  onRemove: (i: number) => void;
}

export function SearchBox({ index, chips, selected, draft, onInput, onCommit, onSelect, onRemove }: Props) {
  const input = useRef<HTMLInputElement>(null);
  const [words, setWords] = useState<string[]>([]);
  const [active, setActive] = useState(-1);
  const last = useRef<{ before: string; completions: string[] }>({ before: "", completions: [] });

  useEffect(() => {
    setActive(-1);
    const prefix = lastWord(draft);
    if (prefix.length < 2) {
      setWords([]);
      return undefined;
    }
    const show = (completions: string[]) => setWords(completions.filter((word) => word !== prefix));
    const { before, completions } = last.current;
    if (before && prefix.startsWith(before) && completions.length < N_WORDS) {
      show(completions.filter((word) => word.startsWith(prefix)));
      return undefined;
    }
    const controller = new AbortController();
    fetchWords(index, prefix, controller.signal)
      .then((fetched) => {
        last.current = { before: prefix, completions: fetched.map(({ word }) => word) };
        show(last.current.completions);
      })
      .catch(() => setWords([]));
    return () => controller.abort();
  }, [index, draft]);

  useEffect(() => {
    const onSlash = (event: KeyboardEvent) => {
      const isTyping = event.target instanceof HTMLElement && event.target.matches("input, textarea, select");
      if (event.key !== "/" || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      input.current?.focus();
    };
    document.addEventListener("keydown", onSlash);
    return () => document.removeEventListener("keydown", onSlash);
  }, []);

  const commit = (query: string) => {
    setWords([]);
    if (query.trim()) onCommit(query.trim());
  };
  const complete = (word: string) => commit(draft.slice(0, draft.length - lastWord(draft).length) + (word.includes(" ") ? `"${word}"` : word));
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Enter") {
      event.preventDefault();
      const word = words[active];
      if (word === undefined) commit(draft);
      else complete(word);
    } else if (event.key === "," && draft.trim() && draft.split('"').length % 2 === 1) {
      event.preventDefault();
      commit(draft);
    } else if (event.key === "Escape") {
      if (words.length > 0) setWords([]);
      else onInput("");
    } else if (event.key === "Backspace" && draft === "" && chips.length > 0) {
      onRemove(chips.length - 1);
    } else if (words.length > 0 && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
      event.preventDefault();
      const step = event.key === "ArrowDown" ? 1 : -1;
      setActive((now) => (now + 1 + step + words.length + 1) % (words.length + 1) - 1);
    }
  };

  return (
    <div class="search-box" role="search">
      <ul class="chips" aria-label="Topics">
        {chips.map((chip, i) => (
          <li key={i} class={`chip c${i % 8}`}>
            <button type="button" class="chip-name" aria-pressed={i === selected} dir="auto" onClick={() => onSelect(i)}>
              {nameOf(chip)}
            </button>
            {shared ? null : (
              <button type="button" class="chip-remove" aria-label={`Remove ${nameOf(chip)}`} onClick={() => onRemove(i)}>
                ×
              </button>
            )}
          </li>
        ))}
      </ul>
      {shared || chips.length >= MAX_CHIPS ? null : (
        <div class="search-input">
          <input
            ref={input}
            id="query"
            type="text"
            dir="auto"
            value={draft}
            maxLength={MAX_QUERY}
            placeholder={chips.length > 0 ? "another topic …" : "Type a word, or several"}
            aria-label="Words to search for"
            role="combobox"
            aria-expanded={words.length > 0}
            aria-controls="completions"
            aria-activedescendant={active >= 0 ? `completion-${active}` : undefined}
            aria-autocomplete="list"
            autocomplete="off"
            autocapitalize="none"
            spellcheck={false}
            onInput={(event) => onInput(event.currentTarget.value)}
            onKeyDown={onKeyDown}
            onBlur={() => setTimeout(() => setWords([]), 150)}
          />
          <ul id="completions" class="completions" role="listbox" aria-label="Words" hidden={words.length === 0}>
            {words.map((word, i) => (
              <li
                key={word}
                id={`completion-${i}`}
                role="option"
                aria-selected={i === active}
                dir="auto"
                onMouseDown={(event) => {
                  event.preventDefault();
                  complete(word);
                }}
              >
                {word}
              </li>
            ))}
          </ul>
        </div>
      )}
    </div>
  );
}

/** The word that is being typed. */
function lastWord(draft: string): string {
  return /[^\s"-][^\s"]*$/u.exec(draft)?.[0] ?? "";
}
