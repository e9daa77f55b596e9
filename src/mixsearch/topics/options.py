"""What a fit of topics is given: options and presets, the vocabulary, and texts to count."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from numbers import Real
from typing import Any, Literal, NamedTuple

import scipy.sparse as sp

from mixsearch.core.rows import is_dask
from mixsearch.core.validation import AUTO, check_choice, check_n_components, check_n_features
from mixsearch.display import pluralize
from mixsearch.errors import ArgumentError, Option, SearchError
from mixsearch.io.values import is_missing
from mixsearch.topics.old_lda import MIN_IDENTIFIED, WEIGHTINGS, not_identified

MomentsKind = Literal["auto", "distinct", "plugin"]
WeightsKind = Literal["length", "uniform"]
# Beyond these sums of the Dirichlet parameters, each document has one topic, or all have the same shares.
MIN_ALPHA0, MAX_ALPHA0 = 1e-6, 1e6


class TopicOptions(NamedTuple):
    """The options of a fit, with those of its preset filled in."""

    alpha0: float | Literal["auto"]
    moments: MomentsKind
    weights: WeightsKind
    metric: float
    damping: bool


PRESETS: dict[str, dict[str, Any]] = {
    "default": {"moments": "auto", "weights": "length", "metric": 0.25, "damping": True},
    "paper": {"moments": "plugin", "weights": "uniform", "metric": 0.0, "damping": False},
}


def resolve_options(parameters: Mapping[str, Any]) -> TopicOptions:
    """Fill in the choices of the preset for parameters of a search that are None."""
    check_choice("preset", parameters["preset"], tuple(PRESETS))
    chosen = {
        name: choice if parameters[name] is None else parameters[name]
        for name, choice in PRESETS[parameters["preset"]].items()
    }
    return TopicOptions(alpha0=parameters["alpha0"], **chosen)


def check_options(options: TopicOptions, n_components: Any, n_words: int) -> None:
    """Raise for options with which no corpus of this many words can be fitted."""
    minimum = check_n_components(n_components)
    check_choice("moments", options.moments, ("auto", "distinct", "plugin"))
    check_choice("weights", options.weights, tuple(WEIGHTINGS))
    _check_alpha0(options, n_components)
    if not (isinstance(options.metric, Real) and 0 <= options.metric <= 1):
        raise ArgumentError(
            "{argument} must be a number from 0 to 1, got {value!r}.", argument=Option("metric"), value=options.metric
        )
    check_n_features(n_words, minimum, f"{minimum} topics")


def _check_alpha0(options: TopicOptions, n_components: Any) -> None:
    if options.alpha0 == AUTO and (options.damping or options.moments == "plugin"):
        raise ArgumentError(
            "{argument}='auto' needs counts that follow the model: damping=False and moments of different words.",
            code="options_conflict",
            argument=Option("alpha0"),
        )
    is_number = isinstance(options.alpha0, Real) and not isinstance(options.alpha0, bool)
    if options.alpha0 != AUTO and not (is_number and MIN_ALPHA0 <= float(options.alpha0) <= MAX_ALPHA0):
        raise ArgumentError(
            "{argument} must be a number from {minimum:g} to {maximum:g} or 'auto', got {value!r}.",
            argument=Option("alpha0"),
            value=options.alpha0,
            minimum=MIN_ALPHA0,
            maximum=MAX_ALPHA0,
        )
    if options.alpha0 == AUTO and n_components != AUTO and n_components < MIN_IDENTIFIED:
        raise not_identified(int(n_components))


def uses_distinct_words(options: TopicOptions, *, is_whole: bool) -> bool:
    """Return whether moments are averages over different words of a document, which needs whole counts."""
    if options.moments == "distinct" and not is_whole:
        raise SearchError(
            "{argument}='distinct' needs whole counts, but X contains fractions. Pass the counts themselves instead of "
            "frequencies or tf-idf, or {argument}='plugin'.",
            code="needs_whole_counts",
            argument=Option("moments"),
        )
    is_distinct = is_whole if options.moments == "auto" else options.moments == "distinct"
    if options.alpha0 == AUTO and not is_distinct:
        raise SearchError(
            "{argument}='auto' needs whole counts, but X contains fractions. Pass the counts themselves.",
            code="needs_whole_counts",
            argument=Option("alpha0"),
        )
    return is_distinct


def check_vocabulary(vocabulary: Iterable[str] | Mapping[str, int], n_columns: int) -> list[str]:
    """Return the words in the order of the columns, from a list of them or from a mapping of words to columns."""
    if isinstance(vocabulary, str):
        raise SearchError("The vocabulary is one string. Give a list of words, one per column.", code="bad_vocabulary")
    if isinstance(vocabulary, Mapping):  # such as CountVectorizer.vocabulary_: word -> column
        vocabulary = sorted(vocabulary, key=vocabulary.__getitem__)
    words = [str(word) for word in vocabulary]
    if len(words) != n_columns:
        raise SearchError(
            "The vocabulary has {n_words:,} "
            + pluralize(len(words), "word")
            + ", but the counts have {n_columns:,} "
            + pluralize(n_columns, "column")
            + ". Give one word per column, in the order of the columns.",
            code="vocabulary_length",
            n_words=len(words),
            n_columns=n_columns,
        )
    repeated = [word for word, times in Counter(words).most_common(1) if times > 1]
    if repeated:
        raise SearchError(
            "The vocabulary contains {word!r} more than once. Give every column its own word.",
            code="repeated_word",
            word=repeated[0],
        )
    return words


def are_texts(X: Any) -> bool:
    """Return whether X holds strings, one per document, instead of counts."""
    if X is None or sp.issparse(X) or is_dask(X) or isinstance(X, str) or not hasattr(X, "__len__"):
        return False
    if getattr(X, "ndim", 1) != 1 or hasattr(X, "columns") or not len(X):
        return False
    first = next((each for each in X if not is_missing(each)), None)
    return isinstance(first, str)


def check_corpus(X: Any, vectorizer: Any) -> None:
    """Reject one text in place of several, and an empty list."""
    if isinstance(X, str | bytes) and vectorizer is None:
        raise ArgumentError(
            "{argument} is one text, but a corpus has several. Pass a list of texts.",
            code="one_text",
            argument=Option("X"),
        )
    is_list = isinstance(X, list | tuple) or (getattr(X, "ndim", 2) == 1 and not sp.issparse(X) and not is_dask(X))
    if is_list and not len(X):
        raise SearchError(
            "{argument} is empty. Pass a list of texts, or counts with a row for each document.",
            code="no_documents",
            argument=Option("X"),
        )


def make_vectorizer(vectorizer: Any) -> Any:
    """Return a vectorizer to fit: a copy of the user's, or the one that an index counts with."""
    if vectorizer is not None:
        from sklearn.base import clone

        return clone(vectorizer)
    from mixsearch.text.word_counter import WordCounter

    return WordCounter()


def fill_missing(X: Any) -> list[str]:
    """Return texts, of which those that are missing are empty."""
    return ["" if is_missing(text) else text for text in X]


def explain_too_few_words(error: SearchError, vectorizer: Any) -> SearchError:
    """Return the error of a fit, with the words that the vectorizer left out if the documents have too few."""
    left_out = getattr(vectorizer, "left_out_", None)
    if error.code != "too_few_documents" or left_out is None:
        return error
    explained: SearchError = left_out.explain(error)
    if explained is error:
        return error
    return explained.append(
        "For that, pass {vectorizer}=WordCounter(CorpusOptions(...)) of mixsearch.text.",
        vectorizer=Option("vectorizer"),
    )
