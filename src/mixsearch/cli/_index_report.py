"""The work of `mixsearch index`: from files to an index, and what to tell about it."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

from rich.console import Console
from rich.text import Text

from mixsearch import SearchError
from mixsearch.cli._console import as_typed, print_json, say_notes, warnings_as_notes
from mixsearch.cli._progress import steps_shown
from mixsearch.cli._render import show_facts
from mixsearch.cli._units import show_bytes, show_seconds
from mixsearch.index import Built, IndexOptions, build_index, open_index
from mixsearch.text import CorpusOptions, strip_compression_suffix

SUFFIX = ".index"
_FROM_INPUT = "texts"


@dataclass(frozen=True)
class Summary:
    """What came of the work."""

    built: Built
    seconds: float
    notes: tuple[str, ...]
    first_word: str

    @property
    def bytes_per_document(self) -> float:
        """Of the index, on disk."""
        return self.built.n_bytes / self.built.n_documents

    @property
    def next_command(self) -> str:
        """What to type to search it."""
        return shlex.join(["mixsearch", "topic", str(self.built.path), self.first_word])

    def as_dict(self) -> dict[str, Any]:
        """The summary as JSON has it."""
        counts = ("n_documents", "n_short", "n_duplicates", "n_words", "n_nonzeros", "n_components", "n_bytes")
        return {
            "index": str(self.built.path),
            **{name: getattr(self.built, name) for name in counts},
            "bytes_per_document": round(self.bytes_per_document, 1),
            "seconds": round(self.seconds, 3),
            "notes": list(self.notes),
            "next": self.next_command,
        }


def run_index(
    sources: Sequence[str],
    output: Path | None,
    options: IndexOptions,
    reading: CorpusOptions,
    *,
    scheduler: str | None,
    as_json: bool,
) -> None:
    """Build an index with its progress shown, and sum up."""
    target = output or default_output(sources)
    _require_outside(sources, target)
    start = perf_counter()
    with steps_shown() as on_progress, warnings_as_notes() as warned:
        source = sources[0] if len(sources) == 1 else list(sources)
        built = build_index(source, target, options, reading, scheduler=scheduler, on_progress=on_progress)
    notes = tuple(as_typed(note) for note in (*built.notes, *warned))
    summary = Summary(built, perf_counter() - start, notes, _first_word(target))
    if as_json:
        print_json(summary.as_dict())
    else:
        _show(Console(highlight=False), summary)


def default_output(sources: Sequence[str]) -> Path:
    """The name of the first source without its suffixes, in the current folder."""
    first = sources[0]
    if first == "-":
        return Path(_FROM_INPUT + SUFFIX)
    path = Path(first)
    if any(letter in path.name for letter in "*?["):
        path = path.parent
    named = path if path.name else path.resolve()
    if named.is_dir():
        return Path(named.name + SUFFIX)
    plain = Path(strip_compression_suffix(named))
    return Path((plain.stem or _FROM_INPUT) + SUFFIX)


def _require_outside(sources: Sequence[str], target: Path) -> None:
    """An index inside the folder that is read would become a part of itself."""
    for source in sources:
        folder = Path(source)
        if source != "-" and folder.is_dir() and target.resolve().is_relative_to(folder.resolve()):
            raise SearchError(
                f"The index '{target}' would lie inside the folder '{source}' that it is made from. "
                "Name another place with --output."
            )


def _first_word(path: Path) -> str:
    """A word that finds something."""
    return open_index(path).distinctive_words(1)[0].word


def _show(console: Console, summary: Summary) -> None:
    built = summary.built
    size = f"{show_bytes(built.n_bytes)}, {summary.bytes_per_document:,.0f} bytes per document"
    facts = [
        ("index", str(built.path)),
        ("documents", f"{built.n_documents:,}{_left_out(built)}"),
        ("words", f"{built.n_words:,}, with {built.n_nonzeros:,} non-zero counts"),
        ("topics", f"{built.n_components:,}"),
        ("size", size),
        ("time", show_seconds(summary.seconds)),
    ]
    show_facts(console, facts)
    say_notes(summary.notes)
    show_facts(console, [("next", Text(summary.next_command, style="bold"))])


def _left_out(built: Built) -> str:
    reasons = [(built.n_short, "with too few words"), (built.n_duplicates, "that repeat others")]
    dropped = [f"{n:,} {why}" for n, why in reasons if n]
    return f"; left out: {', '.join(dropped)}" if dropped else ""
