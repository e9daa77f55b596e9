"""Hints: the words and documents that a topic is asked for by, and the documents that they stand for.

A search box holds words, phrases in quotes, patterns, weights and words to avoid: ``sushi^2 "happy hour" encrypt*
-pizza``. Words side by side that the vocabulary knows as a phrase are read as that phrase.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import translate
from functools import cached_property, reduce
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from mixsearch._typing import Array
from mixsearch.errors import HintError, UnknownWordError
from mixsearch.topics.fitted_corpus import FittedCorpus
from mixsearch.topics.tuning import TUNING

MIN_WEIGHT, MAX_WEIGHT = 1e-3, 1e3
MAX_TERMS = 64
MAX_PHRASE = 3  # words of a phrase that is read without quotes
N_SUGGESTIONS, MIN_LIKENESS = 3, 75.0  # spellings to suggest, and how much alike they must be, of 100
# A word, or a phrase in quotes, with a sign before and a weight behind it.
_ITEM = re.compile(r'(-?)(?:"([^"]*)"|(?!-)([^\s"^]+))(?:\^(\S+))?(?=\s|$)')


class Words(NamedTuple):
    """A word, phrase or pattern of a hint, as it was typed."""

    text: str
    weight: float = 1.0
    is_avoided: bool = False


def parse_query(query: str) -> list[Words]:
    """Read words with weights from one line of text, as in a search box."""
    if query.count('"') % 2:
        raise HintError(
            "A quotation mark in {query!r} is not closed. Close it, or leave it out.", code="open_quote", query=query
        )
    items, end = [], 0
    for match in _ITEM.finditer(query):
        sign, phrase, word, weight = match.groups()
        skipped, end = query[end : match.start()].strip(), match.end()
        text = " ".join((phrase if word is None else word).split())
        if skipped or not text:
            raise HintError("{word!r} names no word.", code="empty_word", word=skipped or match[0])
        items.append(Words(text, _read_weight(weight, text), bool(sign)))
    if query[end:].strip():
        raise HintError("{word!r} names no word.", code="empty_word", word=query[end:].strip())
    return items


def _read_weight(weight: str | None, word: str) -> float:
    try:
        return 1.0 if weight is None else float(weight)
    except ValueError as error:
        raise HintError(
            "{weight!r} is not a weight. Write {word}^2, or {word} alone.", code="bad_weight", weight=weight, word=word
        ) from error


def read_words(words: Any) -> list[Words]:
    """Read the words of a hint: a line as in a search box, a column number, several of them, or words with weights."""
    if isinstance(words, str):
        items = parse_query(words)
    elif isinstance(words, Mapping):
        items = [Words(str(word), abs(_check_weight(word, value)), value < 0) for word, value in words.items()]
    else:
        several = list(words) if isinstance(words, Iterable) else [words]
        for word in several:
            if not isinstance(word, str | Integral):
                raise HintError("Words must be strings or column numbers, got {word!r}.", code="bad_word", word=word)
        items = [Words(str(word)) for word in several]
    if not any(not item.is_avoided for item in items):
        raise HintError("The hint has no word to search for. Give at least one.", code="no_words")
    if len(items) > MAX_TERMS:
        raise HintError(
            "A hint has at most {max_words} words, got {n_words}.",
            code="too_many_words",
            n_words=len(items),
            max_words=MAX_TERMS,
        )
    for item in items:
        _check_weight(item.text, item.weight)
    return items


def _check_weight(word: Any, weight: Any) -> float:
    if isinstance(weight, Real) and MIN_WEIGHT <= abs(float(weight)) <= MAX_WEIGHT:
        return float(weight)
    raise HintError(
        "The weight of {word!r} must be from {minimum:g} to {maximum:g} in size, got {weight!r}.",
        code="weight_out_of_range",
        word=word,
        minimum=MIN_WEIGHT,
        maximum=MAX_WEIGHT,
        weight=weight,
    )


class Vocabulary:
    """The words of a corpus: their columns, and how many documents contain each.

    Parameters
    ----------
    words : sequence of str
        The words of the columns.
    document_frequency : array of shape (D,)
        The number of documents that contain each word.
    spell : callable, optional
        From a word as it is typed to its words as the texts were split: one, or several of a phrase.
    stop_words : collection of str, optional
        Words that do not count beside others.
    """

    def __init__(
        self,
        words: Sequence[str],
        document_frequency: Array,
        spell: Callable[[str], Sequence[str]] = str.split,
        stop_words: Collection[str] = (),
    ) -> None:
        self.words, self.document_frequency, self._spell = words, document_frequency, spell
        self.stop_words = frozenset(stop_words)

    @cached_property
    def columns(self) -> dict[str, int]:
        """The column of each word."""
        return {word: column for column, word in enumerate(self.words)}

    def find(self, word: str) -> int | None:
        """Return the column of a word that documents contain."""
        column = self.columns.get(word)
        return column if column is not None and self.document_frequency[column] else None

    def spell(self, word: str) -> list[str]:
        """Split a word or phrase as the texts were split. What is a word of the vocabulary stays whole."""
        return [word] if self.find(word) is not None else list(self._spell(word)) or [word]

    def match(self, pattern: str) -> Array:
        """Return the columns of the words that match a pattern, such as encrypt*."""
        if not pattern.strip("*?"):
            raise HintError(
                "{word!r} does not choose a word: it has no letters. Write how words begin, such as encrypt*.",
                code="pattern_without_letters",
                word=pattern,
            )
        matches = re.compile(translate(pattern.lower())).match
        return np.array([i for word, i in self.columns.items() if matches(word) and self.document_frequency[i]], int)

    def suggest(self, word: str) -> list[str]:
        """Return words with the nearest spellings, the most frequent first among equals."""
        from rapidfuzz import fuzz, process

        listed = process.extract(word, self.words, scorer=fuzz.ratio, limit=50, score_cutoff=MIN_LIKENESS)
        frequent = [item for item in listed if self.document_frequency[item[2]]]
        ranked = sorted(frequent, key=lambda item: (-round(item[1]), -self.document_frequency[item[2]]))
        return [item[0] for item in ranked[:N_SUGGESTIONS]]


@dataclass(frozen=True)
class Term:
    """A word, phrase or pattern of a hint, and its columns."""

    text: str  # as it is shown
    weight: float
    parts: tuple[Array, ...]  # columns of each word: one of a word, several of a pattern; a phrase has several words


@dataclass(frozen=True)
class Hint:
    """What a topic is asked for by.

    Attributes
    ----------
    terms, avoided : tuple of Term
        Words that documents contain, and words that members must not contain.
    documents, not_documents : array of int
        Documents about the topic, and documents that are not, as indices in the corpus, rising.
    counts : sparse array of shape (q, d), optional
        Other documents about the topic: damped counts of features.
    narrower : float
        Steps towards a narrower topic, or a broader one.
    meaning : int or None
        The cluster of hint documents to search for, one of `Topic.alternatives`.
    """

    terms: tuple[Term, ...] = ()
    avoided: tuple[Term, ...] = ()
    documents: Array = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    not_documents: Array = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    counts: sp.csr_array | None = None
    narrower: float = 0.0
    meaning: int | None = None

    @property
    def columns(self) -> Array:
        """The columns of all wanted words."""
        columns = [part for term in self.terms for part in term.parts]
        return np.unique(np.concatenate(columns)) if columns else np.empty(0, dtype=np.intp)

    @property
    def words(self) -> str:
        """The words as they are read: phrases in quotes, those to avoid with a minus."""
        wanted = [f'"{term.text}"' if len(term.parts) > 1 or " " in term.text else term.text for term in self.terms]
        return " ".join([*wanted, *(f"-{term.text}" for term in self.avoided)])


def find_terms(words: Sequence[Words], vocabulary: Vocabulary) -> tuple[tuple[Term, ...], tuple[Term, ...]]:
    """Look up the words of a hint: return those that documents contain, and those to avoid."""
    terms: list[Term] = []
    avoided: list[Term] = []
    for item in drop_stop_words(join_phrases(words, vocabulary), vocabulary):
        split = _split(item.text, vocabulary)
        parts = [_find_columns(word, item.text, vocabulary) for word in split]
        text = " ".join(split) if len(split) < len(item.text.split()) and " " not in split[0] else item.text
        term = Term(text, item.weight, tuple(part for part in parts if part is not None))
        if term.parts:
            (avoided if item.is_avoided else terms).append(term)
        elif not item.is_avoided:
            raise _make_unknown_error(item.text, vocabulary)
    columns = {tuple(np.concatenate(term.parts)) for term in avoided}
    for term in terms:
        if tuple(np.concatenate(term.parts)) in columns:
            raise HintError(
                "{word!r} is both wanted and to be avoided. Leave out one of the two.",
                code="contradicting_words",
                word=term.text,
            )
    return tuple(terms), tuple(avoided)


def drop_stop_words(words: Sequence[Words], vocabulary: Vocabulary) -> Sequence[Words]:
    """Leave out wanted stop words beside others: most documents with a word of "how to edit video" only have "to"."""
    content = [item for item in words if item.is_avoided or item.text.lower() not in vocabulary.stop_words]
    return words if all(item.is_avoided for item in content) else content


def join_phrases(words: Sequence[Words], vocabulary: Vocabulary) -> list[Words]:
    """Join words side by side that the vocabulary knows as a phrase: sql injection is "sql injection"."""
    joined: list[Words] = []
    i = 0
    while i < len(words):
        for n in range(min(MAX_PHRASE, len(words) - i), 0, -1):
            run = words[i : i + n]
            phrase = " ".join(word for item in run for word in vocabulary.spell(item.text)) if n > 1 else ""
            if n == 1 or (all(item == Words(item.text) for item in run) and vocabulary.find(phrase) is not None):
                joined.append(run[0]._replace(text=phrase or run[0].text))
                i += n
                break
    return joined


def _split(text: str, vocabulary: Vocabulary) -> list[str]:
    """Return the words of a phrase, or the phrase itself if the vocabulary has it."""
    if "*" in text or "?" in text or text.isdecimal():
        return [text]
    spelled = vocabulary.spell(text)
    phrase = " ".join(spelled)
    return [phrase] if vocabulary.find(phrase) is not None else spelled


def _find_columns(word: str, text: str, vocabulary: Vocabulary) -> Array | None:
    """Return the columns of a word or pattern; None for a word that no document contains."""
    if "*" in word or "?" in word:
        columns = vocabulary.match(word)
        if not len(columns):
            raise UnknownWordError("No word matches {word!r}.", code="no_match", word=word)
        return columns
    column = vocabulary.find(word)
    if column is None and word.isdecimal() and word == text and word not in vocabulary.columns:
        return None
    if column is None and word != text:  # all words of a phrase must occur
        raise _make_unknown_error(text, vocabulary, word)
    return None if column is None else np.array([column])


def _make_unknown_error(text: str, vocabulary: Vocabulary, word: str | None = None) -> UnknownWordError:
    nearest = vocabulary.suggest(word or text)
    subject = "No document contains {text!r}." if word in (None, text) else "No document contains {word!r} of {text!r}."
    return UnknownWordError(
        subject + (" Nearest: {nearest}." if nearest else " No word has a similar spelling."),
        text=text,
        word=word or text,
        nearest=", ".join(nearest),
        suggestions=nearest,
    )


# ---- From words to documents ----------------------------------------------------------------------------------------


def find_documents(corpus: FittedCorpus, term: Term) -> tuple[Array, Array]:
    """Return the documents that contain all words of a term, rising, and how much of each is about them, (q,).

    That is the value of the words in the unit tf-idf vector of the document.
    """
    documents, values = zip(*(_find_any(corpus, part) for part in term.parts), strict=True)
    if len(documents) == 1:
        return documents[0], values[0]
    shared = reduce(lambda a, b: np.intersect1d(a, b, assume_unique=True), documents)
    if not len(shared):
        raise UnknownWordError(
            "No document contains all words of {text!r}. Search for the words one by one.",
            code="phrase_without_documents",
            text=term.text,
        )
    picked = [value[np.searchsorted(rows, shared)] for rows, value in zip(documents, values, strict=True)]
    return shared, np.sum(picked, axis=0)


def _find_any(corpus: FittedCorpus, columns: Array) -> tuple[Array, Array]:
    """Return the documents with any of some words, rising, and their values, (q,)."""
    listed = [corpus.find_documents(int(column)) for column in columns]
    idf = corpus.compute_idf(columns)
    documents = np.concatenate([rows for rows, _ in listed])
    values = np.concatenate([weight * counts for weight, (_, counts) in zip(idf, listed, strict=True)])
    if len(listed) > 1:
        documents, inverse = np.unique(documents, return_inverse=True)
        values = np.bincount(inverse, values)
    lengths = corpus.lengths[documents]
    return documents, values / np.where(lengths > 0, lengths, np.inf)


def mark_documents(corpus: FittedCorpus, terms: Iterable[Term]) -> Array:
    """Return which documents contain any of some terms, (n,) of bool."""
    mask = np.zeros(corpus.n_documents, dtype=bool)
    for term in terms:
        mask[find_documents(corpus, term)[0]] = True
    return mask


def weigh_documents(corpus: FittedCorpus, hint: Hint) -> tuple[Array, Array]:
    """Return the documents of the corpus that a hint stands for, rising, and their weights, (q,).

    The documents with its words have the total weight 1, and so have marked documents; those that are not about the
    topic have negative weights.
    """
    total = sum(term.weight for term in hint.terms)
    listed: list[tuple[Array, Array]] = []
    for term in hint.terms:
        documents, values = find_documents(corpus, term)
        step = -(-len(documents) // TUNING.max_documents)
        values = values[::step]
        listed.append((documents[::step], term.weight / total * values / max(values.sum(), 1e-12)))
    for marked, weight in ((hint.documents, 1.0), (hint.not_documents, -TUNING.avoid)):
        listed.append((marked, np.full(len(marked), weight / max(len(marked), 1))))
    documents, inverse = np.unique(np.concatenate([rows for rows, _ in listed]), return_inverse=True)
    weights = np.bincount(inverse, np.concatenate([values for _, values in listed]), minlength=len(documents))
    is_used = (weights != 0) & (corpus.lengths[documents] > 0)
    return documents[is_used].astype(np.intp), weights[is_used]
