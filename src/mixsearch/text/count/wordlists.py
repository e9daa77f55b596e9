"""Lists of words from files: stop words, and the words of the columns of ready-made counts."""

from __future__ import annotations

import os
from collections.abc import Iterable

from mixsearch.data.files.location import File, resolve_file
from mixsearch.data.files.streams import Progress, name_file, open_file, strip_bom
from mixsearch.errors import Option, SearchError
from mixsearch.text.count.languages import stem_words
from mixsearch.text.count.stop_words import AUTO, list_english, list_languages, list_words_of
from mixsearch.text.options import CorpusOptions, normalize_text
from mixsearch.text.read.lines import decode


def list_stop_words(options: CorpusOptions) -> list[str]:
    """Return the words to leave out that are known before the texts are read, normalized as the texts are."""
    words = (normalize_text(word, options) for word in _load_stop_words(options) if word)
    return sorted(set(stem_words(words, options.stem)))


def read_vocabulary(path: File, n_words: int) -> list[str]:
    """Read the word of each column from a file with one word per line."""
    words = _read_words(path, "vocabulary", "a file with one word per line")
    if len(words) != n_words:
        raise SearchError(
            "{file!r} has {n_found:,} words, but the counts have {n_words:,} columns. Set {argument} to the file that "
            "belongs to the counts.",
            code="wrong_vocabulary",
            file=name_file(path),
            n_found=len(words),
            n_words=n_words,
            argument=Option("vocabulary"),
        )
    if len(set(words)) != n_words:
        raise SearchError(
            "{file!r} has the word {word!r} twice, but each line must hold a different word.",
            code="repeated_word",
            file=name_file(path),
            word=next(word for i, word in enumerate(words) if word in words[:i]),
        )
    return words


def _load_stop_words(options: CorpusOptions) -> Iterable[str]:
    words = options.stop_words
    if words is None or words == AUTO:
        return ()
    if words == "english":
        return list_english()
    if isinstance(words, str) and words in list_languages():
        return list_words_of(words)
    if isinstance(words, str | os.PathLike):
        needed = "'auto', 'english', the code of a language, a list of words, or a file with one word per line"
        return _read_words(resolve_file(words), "stop_words", needed)
    return words


def _read_words(path: File, argument: str, needed: str) -> list[str]:
    if not path.is_file():
        raise SearchError(
            "No file {file!r}. {argument} must be " + needed + ".",
            code="file_missing",
            file=str(path),
            argument=Option(argument),
        )
    with open_file(path, Progress()) as file:
        text = decode(strip_bom(file.read(), path), "utf-8", path)
    return [line.strip() for line in text.rstrip().split("\n")]
