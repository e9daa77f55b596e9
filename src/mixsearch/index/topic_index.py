"""An index that was opened: hints in, topics and their documents out."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from mixsearch.errors import HintError, SearchError
from mixsearch.estimators import Topic, TopicSearch
from mixsearch.estimators.base import ask_in_parallel
from mixsearch.estimators.stored_topics import open_search
from mixsearch.storage import Folder, Texts
from mixsearch.text import CorpusOptions, count_texts
from mixsearch.types import Array

# Of the documents that hold a frequent word, so many stand for all: a search then takes as long for any word.
MOST_DOCUMENTS = 4_000

PART_OF_WORD = re.compile(r"\w")


class Document(NamedTuple):
    """A document of the corpus."""

    row: int  # in the files that were indexed, from 0
    name: str | None
    text: str | None


class TopicIndex:
    """A corpus on disk, opened for searches.

    Parameters
    ----------
    folder : Folder
        As `open_index` opens it.

    Attributes
    ----------
    topics : TopicSearch
        The fitted search, with its arrays mapped from the files.
    """

    def __init__(self, folder: Folder) -> None:
        self.folder = folder
        self.topics = TopicSearch.from_folder(folder)
        self._corpus: Mapping[str, Any] = folder.facts.get("corpus", {})

    @property
    def n_documents(self) -> int:
        """How many documents it holds."""
        return len(self.topics.kept_rows_)

    @property
    def n_components(self) -> int:
        """How many topics were fitted: the narrowest that a search can go."""
        return self.topics.n_components_

    @property
    def vocabulary(self) -> list[str]:
        """The words, one per column."""
        return self.topics.vocabulary_ or []

    @property
    def has_texts(self) -> bool:
        """Whether the texts of documents were kept."""
        return bool(self._corpus.get("has_texts"))

    @property
    def has_names(self) -> bool:
        """Whether documents have names."""
        return bool(self._corpus.get("has_names"))

    @cached_property
    def _texts(self) -> Texts | None:
        return self.folder.texts("texts") if self.has_texts else None

    @cached_property
    def _names(self) -> Texts | None:
        return self.folder.texts("names") if self.has_names else None

    def search(
        self,
        words: str | Iterable[str] | Mapping[str, float] | None = None,
        *,
        text: str | Sequence[str] | None = None,
        documents: Any = None,
        **options: Any,
    ) -> Topic:
        """Find the topic that a hint means.

        Parameters
        ----------
        words : str, sequence of str, or mapping of str to float, optional
            As `TopicSearch.search` takes them.
        text : str or sequence of str, optional
            A text that is about the topic, or several.
        documents : sequence of int, optional
            Rows of documents that are about it.
        **options
            Passed to `TopicSearch.search`: n_components, "enough" by default; narrower, positive or negative;
            refine; and so on.
        """
        given = {"words": self._spelt(words), "text": text, "documents": documents}
        hint = {name: value for name, value in given.items() if value is not None}
        if len(hint) != 1:
            raise HintError(
                f"A search needs words, a text or documents, one of them; found {', '.join(hint) or 'none'}."
            )
        if text is not None:
            hint = {"documents": self.count([text] if isinstance(text, str) else list(text))}
        usual: dict[str, Any] = {"n_components": "enough", "max_documents": MOST_DOCUMENTS}
        return self.topics.search(**hint, **(usual | options))

    def search_many(self, hints: Any, *, n_jobs: int | None = -1, **options: Any) -> Any:
        """A topic for each of several hints, in their order.

        Parameters
        ----------
        hints : sequence, or mapping of names to hints
            Each as `search` takes words, or a dictionary of its keyword arguments such as ``{"text": "..."}``. From a
            mapping comes a dictionary of the answers under the same names.
        n_jobs : int, default=-1
            Threads; -1 for one per core.
        **options
            Passed to every `search`.
        """
        return ask_in_parallel(lambda hint: self.search(**_arguments(hint), **options), hints, n_jobs)

    def _spelt(self, words: Any) -> Any:
        """Words in the spelling of the vocabulary, as its texts were folded; an iterator of words as a list."""
        spell = self.spell
        if isinstance(words, Mapping):
            return {spell(word): weight for word, weight in words.items()}
        if isinstance(words, str) or not isinstance(words, Iterable):
            return spell(words)
        return [spell(word) for word in words]

    def spell(self, word: Any) -> Any:
        """A word as the vocabulary spells it: what is no word stays as it is."""
        is_foldable = isinstance(word, str) and self._corpus.get("tokens") is not None
        return self._token_options().fold_case(word) if is_foldable else word

    def count(self, texts: Sequence[str]) -> sp.csr_array:
        """The counts of other texts over the words of this index, (n, d)."""
        if self._corpus.get("tokens") is None:
            raise SearchError(
                "This index was made from ready counts or with a tokenizer of your own, so that a text cannot be split "
                "into its words. Give words, or rows of documents."
            )
        with count_texts(texts, self._token_options()) as corpus:
            counts, words = corpus.to_counts(), corpus.vocabulary
        columns = self.topics.columns_of(words)
        known = np.flatnonzero(columns >= 0)
        picked = sp.coo_array(counts[:, known])
        return sp.csr_array(
            (picked.data.astype(np.float64), (picked.coords[0], columns[known][picked.coords[1]])),
            shape=(len(texts), len(self.vocabulary)),
        )

    def _token_options(self) -> CorpusOptions:
        tokens = self._corpus["tokens"]
        return CorpusOptions(**{**tokens, "ngrams": tuple(tokens["ngrams"])}, n_jobs=1)

    def documents(self, rows: Sequence[int]) -> list[Document]:
        """Documents by their rows, with their texts where the index has kept them."""
        if not len(rows):
            return []
        places = self.topics.places_of(rows)
        texts = self._texts.read(places) if self._texts is not None else [None] * len(places)
        names = self._names.read(places) if self._names is not None else [None] * len(places)
        return [Document(int(row), name, text) for row, name, text in zip(rows, names, texts, strict=True)]


def _arguments(hint: Any) -> dict[str, Any]:
    """One of several hints as keyword arguments; words with numbers are words with weights."""
    is_weighted = isinstance(hint, Mapping) and all(isinstance(weight, Real) for weight in hint.values())
    return dict(hint) if isinstance(hint, Mapping) and not is_weighted else {"words": hint}


def snippet(text: str, words: Iterable[str], length: int = 160) -> str:
    """The part of a text that holds most of the words, on one line."""
    plain = " ".join(text.split())
    if len(plain) <= length:
        return plain
    lowered = plain.lower()
    places = sorted({place for word in words for place in _places_of(word.lower(), lowered)})
    wanted = min(max(_densest(places, length) - length // 4, 0), len(plain) - length)
    start = plain.rfind(" ", 0, wanted + 1) + 1
    end = len(plain) if start + length >= len(plain) else plain.rfind(" ", start, start + length + 1)
    end = start + length if end <= start else end  # one endless word
    return f"{'…' if start else ''}{plain[start:end]}{'…' if end < len(plain) else ''}"


def _places_of(word: str, text: str) -> Iterator[int]:
    """Where a word begins in a text, unless as a part of a longer one."""
    place = text.find(word)
    while place >= 0:
        beside = text[place - 1 : place] + text[place + len(word) : place + len(word) + 1]
        if not PART_OF_WORD.search(beside):
            yield place
        place = text.find(word, place + 1)


def _densest(places: list[int], length: int) -> int:
    """The place after which most others follow within a length."""
    if not places:
        return 0
    array: Array = np.array(places)
    follow = np.searchsorted(array, array + length) - np.arange(len(array))
    return int(array[np.argmax(follow)])


def open_index(path: str | os.PathLike[str]) -> TopicIndex:
    """Open an index, in a time that hardly depends on its size."""
    return TopicIndex(open_search(path))
