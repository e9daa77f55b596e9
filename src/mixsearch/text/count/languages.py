"""Optional packages that know a language: where words end in scripts without spaces, and what their stems are."""

from __future__ import annotations

import logging
import threading
import warnings
from collections.abc import Callable, Iterable
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np

from mixsearch._typing import Array
from mixsearch.errors import ArgumentError, Option, SearchError
from mixsearch.text.count.scripts import HAN, HIRAGANA, KATAKANA, THAI


class Segmenter(NamedTuple):
    """A package that finds words in a text without spaces."""

    package: str
    extra: str
    scripts: tuple[int, ...]
    load: Callable[[Any], Callable[[str], Iterable[str]]]


def _load_jieba(jieba: Any) -> Callable[[str], Iterable[str]]:
    jieba.setLogLevel(logging.ERROR)
    return jieba.lcut  # type: ignore[no-any-return]


def _load_fugashi(fugashi: Any) -> Callable[[str], Iterable[str]]:
    tagger = fugashi.Tagger()
    return lambda text: [word.surface for word in tagger(text)]


def _load_pythainlp(pythainlp: Any) -> Callable[[str], Iterable[str]]:
    return pythainlp.word_tokenize  # type: ignore[no-any-return]


SEGMENTERS = {
    "jieba": Segmenter("jieba", "chinese", (HAN,), _load_jieba),
    "fugashi": Segmenter("fugashi", "japanese", (HAN, HIRAGANA, KATAKANA), _load_fugashi),
    "pythainlp": Segmenter("pythainlp", "thai", (THAI,), _load_pythainlp),
}
_STEMMER = "snowballstemmer"
# One word or text at a time: not all of the packages are safe in threads.
_lock = threading.Lock()


def check_segmenter(name: str) -> None:
    """Raise if the package of a segmenter is not installed."""
    segmenter = SEGMENTERS.get(name)
    if segmenter is not None:
        _require("segmenter", name, segmenter.package, segmenter.extra)


def check_stemmer(language: str) -> None:
    """Raise if a language has no stemmer, or the package of stemmers is not installed."""
    _require("stem", language, _STEMMER, "stem")
    known = import_module(_STEMMER).algorithms()
    if language not in known:
        raise ArgumentError(
            "{argument} must be one of {choices}, got {value!r}.",
            argument=Option("stem"),
            value=language,
            choices=", ".join(known),
        )


def segment(name: str, text: str) -> list[int]:
    """Return where the words of a text without spaces end."""
    with _lock:
        words = list(_load(name)(text))
    return list(accumulate(map(len, words)))


def stem_words(words: Iterable[str], language: str | None) -> list[str]:
    """Return the stems of words; the words if no language is given."""
    return list(words) if language is None else [_stem(language, word) for word in words]


@lru_cache(maxsize=1 << 18)
def _stem(language: str, word: str) -> str:
    with _lock:
        # Of some words nothing is left.
        return _load_stemmer(language).stemWord(word) or word


@lru_cache(maxsize=2)
def _load_stemmer(language: str) -> Any:
    return import_module(_STEMMER).stemmer(language)


@lru_cache(maxsize=2)
def _load(name: str) -> Callable[[str], Iterable[str]]:
    segmenter = SEGMENTERS[name]
    with warnings.catch_warnings():
        # Not ours to change: jieba has invalid escapes and uses setuptools.
        warnings.simplefilter("ignore")
        return segmenter.load(import_module(segmenter.package))


def _require(argument: str, value: str, package: str, extra: str) -> None:
    if find_spec(package) is None:
        raise SearchError(
            "{argument} {value!r} needs {package}, which is not installed: pip install 'mixsearch[{extra}]'.",
            code="package_missing",
            argument=Option(argument),
            value=value,
            package=package,
            extra=extra,
        )


def mark_segmented(name: str, scripts: Array, segmented: int) -> Array:
    """Return scripts with a separate number for those that a segmenter splits."""
    return np.where(np.isin(scripts, SEGMENTERS[name].scripts), np.uint8(segmented), scripts)
