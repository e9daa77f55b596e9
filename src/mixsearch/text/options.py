"""The options of reading and counting a corpus, checked before any file is read."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from mixsearch.errors import ArgumentError, Option
from mixsearch.machine import available_cores
from mixsearch.options import option

KeptColumns = str | Sequence[str] | None  # names, or "auto"

# Measured on mixed texts: a chunk while its words are found, in times its characters.
_BYTES_PER_CHARACTER, _MAX_THREADS = 30, 8
_MIN_CHUNK_BYTES, _MAX_CHUNK_BYTES = 1 << 16, 1 << 22
# A long document may have more than its part of the memory; every machine has what the shortest limit takes.
_MEMORY_PER_DOCUMENT_BYTE, _MIN_DOCUMENT_BYTES = 10, 4 << 20
# Words that are features by default, in Python and on the command line.
DEFAULT_MIN_DF, DEFAULT_MAX_DF, MAX_FEATURES = 5, 0.3, 100_000
# In a small corpus, the limits of how rare a feature may be, as one document of this many, and of how common.
_SMALL_MIN_SHARE, _SMALL_MAX_DF = 100, 10


@dataclass(frozen=True, kw_only=True)
class CorpusOptions:
    """Options for reading files, and choosing the words that topics consist of.

    Words are runs of at least two letters, combining marks and digits with at least one letter. Hyphens join them, and
    the parts are counted, too (zero-day, cve-2022-0001). Of scripts without spaces (Chinese, Japanese, Thai, Lao,
    Khmer, Burmese), overlapping pairs of characters are counted.

    Parameters
    ----------
    text : str or sequence of str, optional
        Column with the text; several are joined by line breaks. By default the only column of strings, or the one
        called text, body, content, abstract, review, description or message.
    id : str, optional
        Column that names the documents. By default one of unique short texts, such as id or title.
    keep : str, sequence of str, "auto" or None, default="auto"
        Columns to keep for filters, groups and lists. auto keeps up to 50 columns of at most 300 characters on average.
    encoding : str
        Encoding of text files. It must keep ASCII unchanged.
    skip_bad_rows : bool
        Skip rows of CSV, TSV and JSON that cannot be read, and count them. By default they are errors.
    stop_words : str or sequence of str, optional
        Words that are not features: a language such as en, or the words. auto takes the frequent stop words of the
        languages that occur in the texts.
    phrases : bool
        Whether to count pairs of adjacent words that mean more than their parts, such as "machine translation".
    min_df : int or float, optional
        Number of documents that have a feature at least; 0.01 is a share of them. By default 5, fewer in a small
        corpus. At most 100,000 words, the most frequent ones, are features.
    max_df : int or float, optional
        Largest number of documents of a feature. A float is a share of all documents. By default 0.3, more in a corpus
        of less than 34 documents.
    memory : int
        Bytes that the chunks in progress may use together. A document may have a tenth of them, or 4 MiB; a longer one
        is an error. The distinct words (100 bytes each) come on top.

    Examples
    --------
    >>> from mixsearch.text import CorpusOptions, read_corpus
    >>> with read_corpus(["The first run", "A good run"], CorpusOptions(stop_words=["the"])) as corpus:
    ...     print(corpus.vocabulary)
    ['first', 'good', 'run']
    """

    text: str | Sequence[str] | None = option(
        None, "Column with the text; several are joined by line breaks.", metavar="COLUMN"
    )
    id: str | None = option(None, "Column that names the documents.", metavar="COLUMN")
    keep: KeptColumns = option("auto", "Columns to keep for filters, groups and lists.", metavar="COLUMN,...|auto|none")
    encoding: str = option("utf-8", "Encoding of text files.")
    skip_bad_rows: bool = option(False, "Skip rows of CSV, TSV and JSON that cannot be read, and count them.")
    stop_words: str | Sequence[str] | None = option(
        "auto", "Words that are not features: a language such as en, or the words.", metavar="auto|none|LANGUAGE"
    )
    phrases: bool = True
    min_df: int | float | None = option(
        None, "Number of documents that have a feature at least; 0.01 is a share of them.", metavar="N"
    )
    max_df: int | float | None = None
    memory: int = 256_000_000

    def __post_init__(self) -> None:
        _check_frequency("min_df", self.min_df)
        _check_frequency("max_df", self.max_df)
        if self.memory < 1:
            raise _make_error("memory", self.memory, "{argument} must be a positive integer, got {value!r}.")
        _check_encoding(self.encoding)
        if isinstance(self.keep, str) and self.keep != "auto":
            object.__setattr__(self, "keep", (self.keep,))

    @property
    def text_columns(self) -> tuple[str, ...]:
        """The text columns that the caller has named; none if they are to be found."""
        return () if self.text is None else (self.text,) if isinstance(self.text, str) else tuple(self.text)

    @property
    def named_columns(self) -> tuple[str, ...]:
        """All columns that the caller has named: of the text, of the id and to keep."""
        keep = () if self.keep is None or isinstance(self.keep, str) else tuple(self.keep)
        return (*self.text_columns, *(() if self.id is None else (self.id,)), *keep)

    @property
    def n_threads(self) -> int:
        """The number of threads that find words."""
        return min(available_cores(), _MAX_THREADS)

    @property
    def chunk_bytes(self) -> int:
        """The bytes of text per chunk with which all chunks in progress stay within the memory."""
        share = self.memory // (_BYTES_PER_CHARACTER * (self.n_threads + 1))
        return min(max(share, _MIN_CHUNK_BYTES), _MAX_CHUNK_BYTES)

    @property
    def document_bytes(self) -> int:
        """The bytes that one document may have."""
        return max(self.memory // _MEMORY_PER_DOCUMENT_BYTE, _MIN_DOCUMENT_BYTES)


def choose_limits(options: CorpusOptions, n_documents: int) -> tuple[float, float]:
    """Return the smallest and the largest number of documents of a feature, in a corpus of this size."""
    min_df = min(DEFAULT_MIN_DF, max(n_documents // _SMALL_MIN_SHARE, 1)) if options.min_df is None else options.min_df
    max_df = _SMALL_MAX_DF if n_documents * DEFAULT_MAX_DF < _SMALL_MAX_DF else DEFAULT_MAX_DF
    max_df = max_df if options.max_df is None else options.max_df
    low, high = (limit if isinstance(limit, int) else limit * n_documents for limit in (min_df, max_df))
    return low, high


def _make_error(name: str, value: object, sentence: str) -> ArgumentError:
    return ArgumentError(sentence, argument=Option(name), value=value)


def _check_frequency(name: str, value: Any) -> None:
    is_count = isinstance(value, int) and not isinstance(value, bool) and value >= 1
    if value is None or is_count or (isinstance(value, float) and 0 <= value <= 1):
        return
    raise _make_error(
        name,
        value,
        "{argument} must be a number of documents (a positive integer) or a share of them (a float from 0.0 to 1.0), "
        "got {value!r}.",
    )


def _check_encoding(encoding: str) -> None:
    with suppress(LookupError):
        if "{a\n".encode(encoding) == b"{a\n":
            return
    raise _make_error(
        "encoding",
        encoding,
        "{argument} must be an encoding that Python knows and that keeps ASCII unchanged, such as 'utf-8' or 'cp1252', "
        "got {value!r}. Convert the file with iconv.",
    )
