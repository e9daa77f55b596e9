"""Words, phrases and patterns, as people type them -> a hint over the words of a vocabulary."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase, translate
from functools import reduce
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from rapidfuzz import process
from rapidfuzz.distance import OSA

from mixsearch._typing import Array
from mixsearch.errors import DroppedWordError, HintError, Option, SkippedWordsWarning, UnknownWordError, warn_user
from mixsearch.topics.counts import MIN_WORDS
from mixsearch.topics.dropped import DroppedWord, DroppedWords

N_SUGGESTIONS = 5
# Letters per slip: a short word with two wrong letters is another word.
LETTERS_PER_SLIP = 2
MAX_SLIPS = 3
# One word or column, several, or words and columns with weights.
Words = str | int | Iterable[str | int] | Mapping[str | int, float]
# Only the ratios of weights count, and squares of larger or smaller ones leave single precision.
MIN_WEIGHT, MAX_WEIGHT = 1e-6, 1e6


def suggest_words(word: str, vocabulary: Sequence[str], frequencies: Array) -> list[str]:
    """Return words with a similar spelling, the likeliest first.

    Notes
    -----
    By the number of letters to insert, drop, replace or swap with the next one; then words with the same first letter,
    which is rarely wrong; then the most frequent. On 900 random slips in words of reviews, abstracts and newswires the
    right word comes first in 814, and is among the first five in 899.
    """
    max_slips = min(max(len(word) // LETTERS_PER_SLIP, 1), MAX_SLIPS)
    close = process.extract(word, vocabulary, scorer=OSA.distance, score_cutoff=max_slips, limit=None)
    ranked = sorted(close, key=lambda found: (found[1], found[0][:1] != word[:1], -frequencies[found[2]], found[0]))
    return [other for other, _, _ in ranked[:N_SUGGESTIONS]]


class WordHint(NamedTuple):
    """A hint v over the words of a vocabulary, stored for the words that it mentions."""

    columns: Array  # (q,)
    values: Array  # (q,)
    terms: tuple[Term, ...] = ()  # what was typed; empty for a direction

    @property
    def phrases(self) -> tuple[Term, ...]:
        """The phrases: their words count only in documents that contain one of each part."""
        return tuple(term for term in self.terms if len(term.parts) > 1)

    @property
    def is_partial(self) -> bool:
        """Whether words of a phrase were skipped: then more documents match than contain the phrase."""
        return any(term.skipped for term in self.terms)


class Term(NamedTuple):
    """One word, pattern or phrase of a hint."""

    word: str
    weight: float
    parts: tuple[Array, ...]  # columns: one array for a word or a pattern, one for each word of a phrase
    skipped: tuple[DroppedWord, ...] = ()  # words of a phrase that are not features

    def hint(self, word_mean: Array) -> WordHint:
        """Return the hint of this term alone, of weight 1."""
        values = [np.full(len(part), 1 / len(self.parts) / word_mean[part].sum()) for part in self.parts]
        return WordHint(np.concatenate(self.parts), np.concatenate(values))


def parse_words(query: str) -> dict[str, float]:
    """Read words with weights from one line of text, as in a search box."""
    try:
        parts = shlex.split(query.replace("'", "\\'"))
    except ValueError as error:
        raise HintError(
            "A quotation mark in {query!r} is not closed. Close it, or leave it out.", code="open_quote", query=query
        ) from error
    return join_weights(map(parse_word, parts))


def join_weights(words: Iterable[tuple[str, float]]) -> dict[str, float]:
    """Return words with their weights, the last one of each."""
    weights: dict[str, float] = {}
    for word, weight in words:
        if weights.get(word, 0) * weight < 0:
            raise HintError(
                "{word!r} is both wanted and to be avoided. Leave out one of the two.",
                code="contradicting_words",
                word=word,
            )
        weights[word] = weight
    return weights


def parse_word(word: str) -> tuple[str, float]:
    """Read one word with its weight."""
    name, caret, number = word.removeprefix("-").rpartition("^")
    if not caret:
        name, number = number, "1"
    try:
        weight = float(number)
    except ValueError as error:
        raise HintError(
            "{weight!r} in {word!r} is not a weight. Write {name}^2, or {name} alone.",
            code="bad_weight",
            weight=number,
            word=word,
            name=name,
        ) from error
    if not name:
        raise HintError("{word!r} names no word.", code="empty_word", word=word)
    return name, -weight if word.startswith("-") else weight


class DroppedHint(NamedTuple):
    """A hint of words that are not features: it is answered from the documents that contain them."""

    words: tuple[tuple[DroppedWord, float], ...]  # with their weights, which are positive
    avoid: Array  # columns of words that the documents should not contain, (q,)

    def covers(self, word: str) -> bool:
        """Return whether all parts of a word, pattern or phrase are among its words."""
        return all(any(fnmatchcase(found.word, part) for found, _ in self.words) for part in word.split())


def hint_from_words(
    words: Words, columns: Mapping[str, int] | None, word_mean: Array, dropped: DroppedWords | None = None
) -> WordHint | DroppedHint:
    """Turn words, phrases and patterns with weights into a hint.

    Notes
    -----
    A word of weight 1 enters with one over its frequency in the corpus. Then ⟨μᵢ, v⟩ is how many times likelier it is
    in topic i than in the corpus, and rare words count as much as frequent ones. A pattern counts as one word that
    stands for all matches. A phrase that is not in the vocabulary counts as its words, in documents that contain all of
    them.
    """
    weights = _read_weights(words)
    if not weights:
        raise HintError("The list of words is empty. Give at least one word.", code="no_words")
    values = list(weights.values())
    if not all(isinstance(value, Real) for value in values) or not np.isfinite(values).all() or not any(values):
        raise HintError(
            "The weights of the words must be finite and not all zero, got {weights}.",
            code="bad_weights",
            weights=values,
        )
    for word, value in weights.items():
        if value and not MIN_WEIGHT <= abs(value) <= MAX_WEIGHT:
            raise HintError(
                "The weight of {word!r} must be from {minimum:g} to {maximum:g} in size, got {weight:g}.",
                code="weight_out_of_range",
                word=word,
                minimum=MIN_WEIGHT,
                maximum=MAX_WEIGHT,
                weight=value,
            )
    terms, missing = _find_terms(weights, Lexicon(columns, word_mean, dropped))
    documents = None if any(term.weight > 0 for term in terms) else _hint_from_dropped(weights, terms, dropped)
    if documents is not None:
        missing = {word: error for word, error in missing.items() if not documents.covers(word)}
    elif missing and not any(term.weight > 0 for term in terms):
        raise next(iter(missing.values()))
    if missing:
        warn_of_skipped(missing)
    return documents or sum_terms(terms, word_mean)


def _hint_from_dropped(
    weights: Mapping[str | int, float], terms: Sequence[Term], dropped: DroppedWords | None
) -> DroppedHint | None:
    """Return the hint of the dropped words among those with a positive weight; None if their documents are unknown."""
    if dropped is None:
        return None
    wanted = [(part, weight) for word, weight in weights.items() if weight > 0 for part in str(word).split()]
    found = [(each, weight) for part, weight in wanted for each in dropped.match(part)]
    parts = [part for part, _ in wanted]
    if sum(weight > 0 for weight in weights.values()) == 1 and parts == [word.word for word, _ in found]:
        found = _intersect_documents(found)
    known = tuple((word, weight) for word, weight in found if len(word.documents))
    avoid = [part for term in terms if term.weight < 0 for part in term.parts]
    return DroppedHint(known, np.concatenate([np.empty(0, dtype=np.intp), *avoid])) if known else None


def _intersect_documents(words: list[tuple[DroppedWord, float]]) -> list[tuple[DroppedWord, float]]:
    """Return the words of a phrase with the documents that contain all of them, if those of each word are known."""
    if len(words) == 1 or not all(word.is_complete for word, _ in words):
        return words
    documents = reduce(np.intersect1d, [word.documents for word, _ in words])
    if not len(documents):
        raise phrase_error(" ".join(word.word for word, _ in words))
    rows = [np.isin(word.documents, documents) for word, _ in words]
    return [
        (replace(word, documents=word.documents[own], counts=word.counts[own]), weight)
        for (word, weight), own in zip(words, rows, strict=True)
    ]


def phrase_error(phrase: str) -> UnknownWordError:
    """Return the error of a phrase whose words never occur together in one document."""
    return UnknownWordError(
        "No document of {min_words} counted words or more contains all words of {word!r}. Search for the words one by "
        "one, without quotes or hyphens: {words}.",
        code="phrase_without_documents",
        min_words=MIN_WORDS,
        word=phrase,
        words=phrase,
    )


def warn_of_skipped(missing: Mapping[str, UnknownWordError]) -> None:
    """Warn of skipped words, with the reason of each."""
    warn_user(
        SkippedWordsWarning(
            "Skipped: {reasons}",
            reasons=" ".join(map(str, missing.values())),
            suggestions={word: error.suggestions for word, error in missing.items()},
            codes={word: error.code for word, error in missing.items()},
            messages={word: str(error) for word, error in missing.items()},
        )
    )


def sum_terms(terms: Sequence[Term], word_mean: Array) -> WordHint:
    """Return the hint of several terms with their weights."""
    hint: dict[int, float] = {}
    for term in terms:
        own = term.hint(word_mean)
        for column, value in zip(own.columns.tolist(), own.values.tolist(), strict=True):
            hint[column] = hint.get(column, 0.0) + term.weight * value
    return WordHint(np.array(list(hint), dtype=np.intp), np.array(list(hint.values())), tuple(terms))


def are_words(hint: Any) -> bool:
    """Return whether a hint is a word, several words, or words with weights, rather than a direction."""
    is_list = isinstance(hint, list | tuple) and len(hint) > 0 and all(isinstance(word, str) for word in hint)
    return is_list or isinstance(hint, str | Mapping)


def _read_weights(words: Any) -> Mapping[str | int, float]:
    """Return words with their weights, 1 by default."""
    if isinstance(words, Mapping):
        return words
    several: list[Any] = [words] if isinstance(words, str | Integral) else list(words)
    for word in several:
        if not isinstance(word, str | Integral):
            raise HintError("Words must be strings or column numbers, got {word!r}.", code="bad_word", word=word)
    return dict.fromkeys(several, 1.0)


class Lexicon(NamedTuple):
    """The vocabulary that words are looked up in."""

    columns: Mapping[str, int] | None  # the vocabulary
    word_mean: Array  # the frequencies of its words, (d,)
    dropped: DroppedWords | None = None  # words of the texts that it lacks


def _find_terms(weights: Mapping[str | int, float], lexicon: Lexicon) -> tuple[list[Term], dict[str, UnknownWordError]]:
    """Return the words of the vocabulary, and why the others are not in it."""
    terms: list[Term] = []
    missing: dict[str, UnknownWordError] = {}
    for word, weight in weights.items():
        try:
            parts = tuple(_find_columns(word, lexicon))
            terms.append(Term(str(word), float(weight), parts, _find_skipped(word, lexicon)))
        except UnknownWordError as error:
            missing[str(word)] = error
    return terms, missing


def _find_columns(word: str | int, lexicon: Lexicon) -> list[Array]:
    """Return the columns of a word, pattern or phrase: one array for each part."""
    columns, word_mean, dropped = lexicon
    if not isinstance(word, str):
        return [_keep_used(word, [_check_column(word, len(word_mean))], word_mean)]
    if columns is None:
        raise UnknownWordError(
            "{word!r} cannot be looked up, because fit was given no vocabulary. Call fit(counts, vocabulary=words), or "
            "give the column of the word.",
            code="no_vocabulary",
            word=word,
        )
    if word in columns:
        return [_keep_used(word, [columns[word]], word_mean)]
    if "*" in word or "?" in word:
        _check_pattern(word)
        return [_keep_used(word, _match_pattern(word, columns), word_mean)]
    several = word.split()
    if len(several) > 1:
        return _find_phrase(several, lexicon)
    other = None if dropped is None else dropped.find(word)
    if other is not None:
        raise other.error()
    nearest = _suggest(word, columns, lexicon)
    if _is_number(word) and not any(map(_is_number, columns)):
        raise UnknownWordError(
            "{word!r} is not among the {n_words:,} words: numbers alone are not counted. To count them, make "
            "the index with another {argument}.",
            code="number_not_counted",
            word=word,
            n_words=len(columns),
            argument=Option("token_pattern"),
            suggestions=nearest,
        )
    advice = "Nearest: {nearest}." if nearest else "No word has a similar spelling."
    raise UnknownWordError(
        "{word!r} is not among the {n_words:,} words. " + advice,
        word=word,
        n_words=len(columns),
        nearest=", ".join(nearest),
        suggestions=nearest,
    )


def _is_number(word: str) -> bool:
    """Return whether a word has digits, but no letters."""
    return any(map(str.isdecimal, word)) and not any(map(str.isalpha, word))


def _find_phrase(words: Sequence[str], lexicon: Lexicon) -> list[Array]:
    """Return the columns of the words of a phrase. Those that are not features do not count if others are."""
    parts: list[Array] = []
    errors: list[DroppedWordError] = []
    for word in words:
        try:
            parts += _find_columns(word, lexicon)
        except DroppedWordError as error:
            errors.append(error)
    if not parts:
        raise errors[0]
    if errors:
        warn_of_skipped({str(error.word): error for error in errors})
    return parts


def _find_skipped(word: str | int, lexicon: Lexicon) -> tuple[DroppedWord, ...]:
    """Return the words of a phrase that are not features."""
    columns, _, dropped = lexicon
    if not isinstance(word, str) or columns is None or dropped is None or word in columns:
        return ()
    others = [dropped.find(each) for each in word.split() if each not in columns]
    return tuple(other for other in others if other is not None)


def _suggest(word: str, columns: Mapping[str, int], lexicon: Lexicon) -> list[str]:
    """Return words with a similar spelling: features, and words that are too common to be one."""
    common = {} if lexicon.dropped is None else lexicon.dropped.common
    # More frequent than any feature.
    frequencies = np.concatenate([lexicon.word_mean[list(columns.values())], np.array(list(common.values()), float)])
    return suggest_words(word, [*columns, *common], frequencies)


def _check_column(column: int, n_words: int) -> int:
    if not 0 <= column < n_words:
        raise UnknownWordError(
            "There is no column {column}: the counts have {n_words:,} columns, numbered from 0.",
            code="unknown_column",
            column=column,
            n_words=n_words,
        )
    return int(column)


def _check_pattern(pattern: str) -> None:
    if not pattern.strip("*?"):
        raise HintError(
            "{word!r} does not choose a word: it has no letters. Write how words begin, such as encrypt*.",
            code="pattern_without_letters",
            word=pattern,
        )


def _match_pattern(pattern: str, columns: Mapping[str, int]) -> list[int]:
    matches = re.compile(translate(pattern)).match
    found = [column for word, column in columns.items() if matches(word)]
    if not found:
        raise UnknownWordError("None of the {n_words:,} words matches {word!r}.", word=pattern, n_words=len(columns))
    return found


def _keep_used(word: str | int, found: list[int], word_mean: Array) -> Array:
    """Return the columns that occur in the corpus."""
    used = [column for column in found if word_mean[column] > 0]
    if not used:
        raise UnknownWordError(
            "{word!r} is in the vocabulary, but in no document of three words or more.",
            code="word_without_documents",
            word=word,
        )
    return np.array(used, dtype=np.intp)


def mean_frequencies(counts: sp.csr_array) -> Array:
    """Return the mean word frequencies of a few documents, (d,)."""
    lengths = np.asarray(counts.sum(axis=1), dtype=np.float64)
    if not lengths.any():
        raise HintError(
            "The documents of the hint contain no word of the vocabulary. Give documents with words of it.",
            code="empty_documents",
        )
    return np.asarray(counts.T @ (1 / np.where(lengths > 0, lengths, np.inf))) / np.count_nonzero(lengths)
