"""Options of a fit of topics, and the presets that fill them in."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import Any, Literal, NamedTuple

import numpy as np

from mixsearch.core.validation import AUTO, check_choice, check_n_components, check_n_features
from mixsearch.errors import ArgumentError, Option, SearchError
from mixsearch.topics._documents import WEIGHTINGS

MomentsKind = Literal["auto", "distinct", "plugin"]
WeightsKind = Literal["length", "uniform"]


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
    _check_alpha0(options)
    if not (isinstance(options.metric, Real) and 0 <= options.metric <= 1):
        raise ArgumentError(
            "{argument} must be a number from 0 to 1, got {value!r}.", argument=Option("metric"), value=options.metric
        )
    check_n_features(n_words, minimum, f"{minimum} topics")


def _check_alpha0(options: TopicOptions) -> None:
    if options.alpha0 == AUTO and (options.damping or options.moments == "plugin"):
        raise ArgumentError(
            "{argument}='auto' needs counts that follow the model: damping=False and moments of different words.",
            code="options_conflict",
            argument=Option("alpha0"),
        )
    if options.alpha0 != AUTO and not (isinstance(options.alpha0, Real) and 0 < options.alpha0 < np.inf):
        raise ArgumentError(
            "{argument} must be a positive number or 'auto', got {value!r}.",
            argument=Option("alpha0"),
            value=options.alpha0,
        )


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
