"""Words of the texts that are not features: why, how many documents contain each, and which ones.

A word that is too common or too rare to be a feature is still a hint: the documents that contain it are known.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from mixsearch._typing import Array
from mixsearch.errors import DroppedWordError, DroppedWordWarning
from mixsearch.io.disk import damage_error
from mixsearch.io.folder import Folder, FolderWriter
from mixsearch.topics.segments import Segment, place_in

TOO_COMMON, TOO_RARE, BEYOND_MAX_WORDS, STOP_WORD = "too_common", "too_rare", "beyond_max_words", "stop_word"
ADDED = "added"  # came with documents that were added to the corpus
# For how many documents an index stores how often they contain a word: those with most of it. A common word is in a
# large part of the corpus, of which these are enough to start from; the others are many, and mostly in fewer.
MAX_DOCUMENTS = {TOO_COMMON: 1000, TOO_RARE: 20, BEYOND_MAX_WORDS: 20, STOP_WORD: 0, ADDED: 200}
# Counts are stored in a byte.
MAX_COUNT = 255

_GROUP = "dropped"


@dataclass(frozen=True, eq=False)
class DroppedWord:
    """A word that is not a feature."""

    word: str
    reason: str
    n_documents: int
    n_all: int  # documents of the corpus
    documents: Array  # indices of those with most of it, rising, (m,)
    counts: Array  # how often each of them contains it, (m,)
    is_complete: bool  # whether these are all documents with it

    @property
    def share(self) -> float:
        """The share of the documents that contain it."""
        return self.n_documents / self.n_all

    def error(self) -> DroppedWordError:
        """Return why it cannot be used like a feature."""
        sentences = {
            TOO_COMMON: "{word!r} occurs in {share:.0%} of the documents: too common to add to other words.",
            TOO_RARE: "{word!r} occurs in only {n_documents} of {n_all:,} documents: too rare to add to other words.",
            BEYOND_MAX_WORDS: "{word!r} is not among the most frequent words, which alone were counted.",
            STOP_WORD: "{word!r} is a stop word: it was left out when the index was made.",
            ADDED: "{word!r} came with documents that were added later. Refresh the index to add it to other words.",
        }
        return DroppedWordError(sentences[self.reason], code=f"word_{self.reason}", **self._facts)

    def warning(self) -> DroppedWordWarning:
        """Return what to know about an answer from its documents."""
        sentences = {
            TOO_COMMON: "{word!r} occurs in {share:.0%} of the documents: too common to single out one topic. The "
            "answer starts from the {n_used:,} documents with most of it. Add a rarer word.",
            TOO_RARE: "{word!r} occurs in only {n_documents} of {n_all:,} documents: the answer rests on nothing else.",
            BEYOND_MAX_WORDS: "{word!r} is not among the most frequent words: the answer starts from {n_used} of the "
            "{n_documents:,} documents that contain it.",
            ADDED: "{word!r} came with documents that were added later: the answer starts from {n_used} of the "
            "{n_documents:,} documents that contain it. Refresh the index to search for it like for other words.",
        }
        return DroppedWordWarning(sentences[self.reason], code=f"word_{self.reason}", **self._facts)

    @property
    def _facts(self) -> dict[str, Any]:
        facts = {"word": self.word, "reason": self.reason, "n_documents": self.n_documents, "n_all": self.n_all}
        return {**facts, "share": self.share, "n_used": len(self.documents)}


class DroppedWords:
    """The dropped words of a stored corpus, read when first needed."""

    def __init__(self, folder: Folder, segments: Sequence[Segment]) -> None:
        self._n_all = sum(segment.n_documents for segment in segments)
        stored = [segment for segment in segments if segment.place(_GROUP) in folder.facts]
        self._lists = [_DroppedList(folder, segment) for segment in stored]

    def __contains__(self, word: str) -> bool:
        return any(word in own for own in self._lists)

    def find(self, word: str) -> DroppedWord | None:
        """Return a word, or None if it is not among the dropped ones."""
        found = [each for each in (own.find(word) for own in self._lists) if each is not None]
        if not found:
            return None
        return DroppedWord(
            word,
            found[0].reason,
            sum(each.n_documents for each in found),
            self._n_all,
            np.concatenate([each.documents for each in found]),
            np.concatenate([each.counts for each in found]),
            # The documents of stop words are not counted.
            all(each.reason != STOP_WORD and each.n_documents == len(each.documents) for each in found),
        )

    def match(self, pattern: str) -> list[DroppedWord]:
        """Return the dropped word of this spelling, or the common ones that match a pattern."""
        is_pattern = "*" in pattern or "?" in pattern
        words = [word for word in self.common if fnmatchcase(word, pattern)] if is_pattern else [pattern]
        return [found for found in map(self.find, words) if found is not None]

    @cached_property
    def common(self) -> dict[str, int]:
        """Words that are too common to be features, with the number of documents that contain each."""
        sums: Counter[str] = Counter()
        for own in self._lists:
            sums.update(own.list_common())
        return dict(sums)


class _DroppedEntry(NamedTuple):
    """A dropped word in one segment of the corpus."""

    reason: str
    n_documents: int
    documents: Array
    counts: Array


class _DroppedList:
    """The dropped words of one segment of the corpus."""

    def __init__(self, folder: Folder, segment: Segment) -> None:
        self._folder, self._segment = folder, segment
        self._reasons: Sequence[str] = folder.facts[segment.place(_GROUP)]["reasons"]

    def __contains__(self, word: str) -> bool:
        return word in self._index

    def find(self, word: str) -> _DroppedEntry | None:
        """Return a word, or None if it is not among them."""
        index = self._index.get(word)
        if index is None:
            return None
        stored = slice(*self._read("starts")[index : index + 2])
        documents = np.asarray(self._read("documents")[stored], dtype=np.intp)
        if len(documents) and not 0 <= documents.min() <= documents.max() < self._segment.n_documents:
            raise damage_error("The documents of '{word}' are damaged: an index is out of range.", word=word)
        return _DroppedEntry(
            self._reasons[self._read("reasons")[index]],
            int(self._read("n_documents")[index]),
            documents + self._segment.first,
            np.asarray(self._read("counts")[stored], dtype=np.float64),
        )

    def list_common(self) -> dict[str, int]:
        """Return the words that are too common to be features, with the number of documents that contain each."""
        if TOO_COMMON not in self._reasons:
            return {}
        found = np.flatnonzero(np.asarray(self._read("reasons")) == self._reasons.index(TOO_COMMON))
        words = self._folder.texts(self._segment.place(f"{_GROUP}/words")).read(found)
        return dict(zip(words, self._read("n_documents")[found].tolist(), strict=True))

    def _read(self, name: str) -> Array:
        return self._folder[self._segment.place(f"{_GROUP}/{name}")]

    @cached_property
    def _index(self) -> dict[str, int]:
        words = self._folder.texts(self._segment.place(f"{_GROUP}/words"))
        return {word: index for index, word in enumerate(words)}


def open_dropped(folder: Folder, segments: Sequence[Segment]) -> DroppedWords | None:
    """Return the dropped words of a folder; None if it holds a search alone, without the words of a corpus."""
    return DroppedWords(folder, segments) if _GROUP in folder.facts else None


class Postings(NamedTuple):
    """Which documents contain dropped words."""

    n_documents: Array
    words: Array
    documents: Array
    counts: Array


def store_dropped(
    out: FolderWriter, words: Sequence[str], reasons: Sequence[str], postings: Postings, segment: str = ""
) -> None:
    """Write the words of a corpus that are not features, except those of removed and of short documents alone."""
    names, group = list(MAX_DOCUMENTS), place_in(segment, _GROUP)
    stored = [i for i, reason in enumerate(reasons) if postings.n_documents[i] or reason == STOP_WORD]
    kinds = [reasons[i] for i in stored]
    out.save_texts(f"{group}/words", [words[i] for i in stored])
    out.save(f"{group}/reasons", np.array([names.index(reason) for reason in kinds], dtype=np.uint8))
    out.save(f"{group}/n_documents", postings.n_documents[stored].astype(np.uint32))
    starts = np.searchsorted(postings.words, np.array([*stored, len(words)]))
    out.save(f"{group}/starts", starts)
    out.save(f"{group}/documents", postings.documents.astype(np.int32))
    out.save(f"{group}/counts", np.minimum(postings.counts, MAX_COUNT).astype(np.uint8))
    out.facts[group] = {"n_words": dict(Counter(kinds)), "reasons": names}


class DroppedTable(NamedTuple):
    """The dropped words of a segment, in memory.

    Attributes
    ----------
    words, reasons : lists of str
        The words, and why each was dropped.
    postings : Postings
        The documents that contain them, by their indices in the segment.
    """

    words: list[str]
    reasons: list[str]
    postings: Postings


def load_dropped(folder: Folder, segment: Segment) -> DroppedTable | None:
    """Read the dropped words of a segment."""
    if segment.place(_GROUP) not in folder.facts:
        return None
    own = _DroppedList(folder, segment)
    names = folder.facts[segment.place(_GROUP)]["reasons"]
    n_documents, documents, counts = (own._read(name) for name in ("n_documents", "documents", "counts"))
    words = np.repeat(np.arange(len(n_documents)), np.diff(own._read("starts")))
    postings = Postings(np.asarray(n_documents, dtype=np.int64), words, np.asarray(documents), np.asarray(counts))
    reasons = [names[reason] for reason in own._read("reasons").tolist()]
    return DroppedTable(list(own._index), reasons, postings)
