"""Words, phrases and patterns, as people type them -> a hint over the words of a vocabulary."""

from __future__ import annotations

import difflib
import re
import shlex
from collections.abc import Iterable, Mapping
from fnmatch import translate
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from mixsearch._typing import Array
from mixsearch.errors import HintError, SkippedWordsWarning, UnknownWordError, warn_user

# Words of about the same length are looked at for a misspelt one.
LENGTHS_APART = 2


class Term(NamedTuple):
    """One thing that a hint names."""

    weight: float
    parts: list[Array]  # columns: one array for a word or a pattern, one for each word of a phrase


def parse_words(query: str) -> dict[str, float]:
    """Words with weights from one line of text, as a search box has it.

    Notes
    -----
    ``sushi rice`` are two words, ``"new york"`` is a phrase, ``-burger`` a word to avoid, ``sushi^2`` one with twice
    the say, ``encrypt*`` all words that begin so.

    Examples
    --------
    >>> parse_words('sushi^2 -burger "new york"')
    {'sushi': 2.0, 'burger': -1.0, 'new york': 1.0}
    """
    try:
        parts = shlex.split(query.replace("'", "\\'"))
    except ValueError as error:
        raise HintError(f"A quotation mark in {query!r} is not closed. Close it, or leave it out.") from error
    return dict(map(parse_word, parts))


def parse_word(word: str) -> tuple[str, float]:
    """A word and its weight: ``-word`` counts against the topic, ``word^2`` twice as much."""
    name, caret, number = word.removeprefix("-").rpartition("^")
    if not caret:
        name, number = number, "1"
    try:
        weight = float(number)
    except ValueError as error:
        raise HintError(f"{number!r} in {word!r} is not a weight. Write {name}^2, or {name} alone.") from error
    if not name:
        raise HintError(f"{word!r} names no word.")
    return name, -weight if word.startswith("-") else weight


def hint_from_words(
    words: str | int | Iterable[str | int] | Mapping[str | int, float],
    columns: Mapping[str, int] | None,
    word_mean: Array,
) -> WordHint:
    """Words, phrases and patterns with weights, negative ones for what the topic should avoid.

    A word of weight 1 enters with one over its frequency in the corpus: ⟨μᵢ, v⟩ then is how many times likelier than in
    the corpus it is in topic i, and a rare word has the same say as a frequent one. A pattern counts as one word that
    stands for all that match; a phrase of words that the vocabulary has only one by one as those, in documents that
    hold them all. Words that are not there are skipped, if others are.
    """
    weights = _weighted(words)
    if not weights:
        raise HintError("The list of words is empty. Give at least one word.")
    values = list(weights.values())
    if not all(isinstance(value, Real) for value in values) or not np.isfinite(values).all() or not any(values):
        raise HintError(f"The weights of the words must be finite and not all zero; found {values}.")
    terms = _known(weights, columns, word_mean)
    hint: dict[int, float] = {}
    for term in terms:
        for part in term.parts:
            value = term.weight / len(term.parts) / word_mean[part].sum()
            for column in part.tolist():
                hint[column] = hint.get(column, 0.0) + value
    phrases = tuple(tuple(term.parts) for term in terms if len(term.parts) > 1)
    return WordHint(np.array(list(hint), dtype=np.intp), np.array(list(hint.values())), phrases)


def _weighted(words: Any) -> Mapping[str | int, float]:
    """Words with their weights, 1 where none are given."""
    if isinstance(words, Mapping):
        return words
    listed: list[Any] = [words] if isinstance(words, str | Integral) else list(words)
    for word in listed:
        if not isinstance(word, str | Integral):
            raise HintError(f"Words must be strings or column numbers; found {word!r}.")
    return dict.fromkeys(listed, 1.0)


def _known(weights: Mapping[str | int, float], columns: Mapping[str, int] | None, word_mean: Array) -> list[Term]:
    """What the vocabulary has of the words; an error where it has none of those that the topic should hold."""
    terms: list[Term] = []
    missing: dict[str, UnknownWordError] = {}
    for word, weight in weights.items():
        try:
            terms.append(Term(float(weight), _parts(word, columns, word_mean)))
        except UnknownWordError as error:
            missing[str(word)] = error
    if missing and not any(term.weight > 0 for term in terms):
        raise next(iter(missing.values()))
    if missing:
        warn_user(
            SkippedWordsWarning(
                "Skipped: {reasons}",
                reasons=" ".join(map(str, missing.values())),
                suggestions={word: error.suggestions for word, error in missing.items()},
            )
        )
    return terms


def _parts(word: str | int, columns: Mapping[str, int] | None, word_mean: Array) -> list[Array]:
    if not isinstance(word, str):
        return [_seen(word, [_numbered(word, len(word_mean))], word_mean)]
    if columns is None:
        raise UnknownWordError(
            "{word!r} cannot be looked up, because fit was given no vocabulary. Call fit(counts, vocabulary=words), or "
            "give the column of the word.",
            code="no_vocabulary",
            word=word,
        )
    if word in columns:
        return [_seen(word, [columns[word]], word_mean)]
    if "*" in word or "?" in word:
        return [_seen(word, _matching(word, columns), word_mean)]
    several = word.split()
    if len(several) > 1:
        return [part for each in several for part in _parts(each, columns, word_mean)]
    nearest = _spelt_alike(word, columns)
    advice = "Nearest: {nearest}." if nearest else "No word has a similar spelling."
    raise UnknownWordError(
        "{word!r} is not among the {n_words:,} words. " + advice,
        word=word,
        n_words=len(columns),
        nearest=", ".join(nearest),
        suggestions=nearest,
    )


def _numbered(column: int, n_words: int) -> int:
    if not 0 <= column < n_words:
        raise UnknownWordError(
            "There is no column {column}: the counts have {n_words:,} columns, numbered from 0.",
            column=column,
            n_words=n_words,
        )
    return int(column)


def _matching(pattern: str, columns: Mapping[str, int]) -> list[int]:
    matches = re.compile(translate(pattern)).match
    found = [column for word, column in columns.items() if matches(word)]
    if not found:
        raise UnknownWordError("None of the {n_words:,} words matches {word!r}.", word=pattern, n_words=len(columns))
    return found


def _seen(word: str | int, found: list[int], word_mean: Array) -> Array:
    seen = [column for column in found if word_mean[column] > 0]
    if not seen:
        raise UnknownWordError(
            "{word!r} is in the vocabulary, but in no document of three words or more.",
            code="word_without_documents",
            word=word,
        )
    return np.array(seen, dtype=np.intp)


def _spelt_alike(word: str, columns: Iterable[str]) -> list[str]:
    """Words that differ from a misspelt one by little."""
    alike = [
        other for other in columns if abs(len(other) - len(word)) <= LENGTHS_APART and set(other[:2]) & set(word[:2])
    ]
    close = difflib.get_close_matches(word, alike, n=10)
    # A slip of the finger rarely hits the first letters.
    return sorted(close, key=lambda other: -_n_first(word, other))[:5]


def _n_first(one: str, other: str) -> int:
    """How many letters two words have in common from the start."""
    return next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


class WordHint(NamedTuple):
    """A hint v over the words of a vocabulary, kept to the words that it mentions."""

    columns: Array  # (q,)
    values: Array  # (q,)
    phrases: tuple[tuple[Array, ...], ...] = ()  # whose words count in documents that hold one of each part only


def hint_from_documents(counts: sp.csr_array, word_mean: Array) -> Array:
    """The word frequencies of a few documents, each with the same say, seen from those of the corpus, (d,)."""
    lengths = np.asarray(counts.sum(axis=1), dtype=np.float64)
    if not lengths.any():
        raise HintError("The documents of the hint hold no word of the vocabulary. Give documents with words.")
    mean = np.asarray(counts.T @ (1 / np.where(lengths > 0, lengths, np.inf))) / np.count_nonzero(lengths)
    return mean - word_mean
