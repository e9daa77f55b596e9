"""Lists of words: those to leave out, and those that columns stand for."""

from __future__ import annotations

import os
from collections.abc import Iterable

from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

from mixsearch.errors import SearchError
from mixsearch.text.options import CorpusOptions
from mixsearch.text.read.documents import file_name
from mixsearch.text.read.files import File, file_of
from mixsearch.text.read.lines import decode, without_bom
from mixsearch.text.read.sources import Progress, open_bytes


def stop_list(options: CorpusOptions) -> list[str]:
    """The words to leave out, spelled as the words of the texts are."""
    return sorted({options.fold_case(word) for word in _stop_words(options) if word})


def read_vocabulary(path: File, n_words: int) -> list[str]:
    """The word of each column, one on each line of a file."""
    words = _read_lines(path, "vocabulary")
    if len(words) != n_words:
        raise SearchError(
            f"Found {len(words):,} words in {file_name(path)}, needed {n_words:,}, one for each column of the counts: "
            "pass the file that belongs to them as vocabulary=."
        )
    if len(set(words)) != n_words:
        twice = next(word for i, word in enumerate(words) if word in words[:i])
        raise SearchError(f"Found the word {twice!r} twice in {file_name(path)}, needed a different one on each line.")
    return words


def _stop_words(options: CorpusOptions) -> Iterable[str]:
    words = options.stop_words
    if words is None:
        return ()
    if words == "english":
        return ENGLISH_STOP_WORDS
    return _read_lines(file_of(words), "stop_words") if isinstance(words, str | os.PathLike) else words


def _read_lines(path: File, option: str) -> list[str]:
    if not path.is_file():
        kinds = "'english', a list of words, or " if option == "stop_words" else ""
        raise SearchError(f"Found no file {str(path)!r} for {option}, needed {kinds}a file with one word on each line.")
    with open_bytes(path, Progress()) as file:
        text = decode(without_bom(file.read(), path), "utf-8", path)
    return [line.strip() for line in text.rstrip().split("\n")]
