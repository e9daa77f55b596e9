"""What is told of an index: to the caller, and to those who open it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mixsearch.errors import SearchWarning
from mixsearch.text import Corpus, CorpusOptions

if TYPE_CHECKING:
    from mixsearch.text import DistributedCorpus


@dataclass(frozen=True)
class Built:
    """What came of building an index."""

    path: Path
    n_documents: int
    n_short: int  # documents of too few words
    n_duplicates: int
    n_words: int
    n_nonzeros: int
    n_components: int
    n_bytes: int
    notes: tuple[SearchWarning, ...]


def summed_up(path: Path, corpus: Corpus | DistributedCorpus, counted: dict[str, int]) -> Built:
    """What came of an index that is published."""
    size = sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
    return Built(path=path, n_bytes=size, notes=corpus.notes, n_duplicates=corpus.n_dropped, **counted)


def facts_of(
    corpus: Corpus | DistributedCorpus, reading: CorpusOptions | None, *, has_texts: bool, has_names: bool
) -> dict[str, Any]:
    """What an index must know of its corpus beside the arrays."""
    return {
        "n_characters": corpus.n_characters,
        "n_duplicates": corpus.n_dropped,
        "has_texts": has_texts,
        "has_names": has_names,
        "tokens": _tokens(corpus, reading),
    }


def _tokens(corpus: Corpus | DistributedCorpus, reading: CorpusOptions | None) -> dict[str, Any] | None:
    """What a text must go through to be a hint; nothing where only the user's own function knows, or counts came."""
    if reading is None or reading.tokenizer is not None or not corpus.n_characters:
        return None
    kept = ("token_pattern", "lowercase", "normal_form", "strip_tags", "ngrams")
    tokens = {name: value for name, value in asdict(reading).items() if name in kept}
    # They matter for pairs of words, which close up over them; a file of them may be gone when a text is asked for.
    is_listed = reading.stop_words == "english" or isinstance(reading.stop_words, list | tuple)
    return {**tokens, "stop_words": reading.stop_words if is_listed else None}
