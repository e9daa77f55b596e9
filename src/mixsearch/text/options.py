"""The options of reading and counting a corpus, checked before any file is read."""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from mixsearch.errors import ArgumentError, Option
from mixsearch.io.files import FORMATS, Format
from mixsearch.machine import available_cores

Tokenizer = Callable[[str], Sequence[str]]
KeptColumns = Sequence[str] | Literal["auto"] | None

# Measured on mixed texts: characters, code points, masks, positions and hashes of one chunk while it is counted.
_BYTES_PER_CHARACTER = 40
# Of a single long document, which takes about 17 bytes for each of its own: more than a part of the memory of an index,
# but within the whole of it. Every machine has what the shortest limit takes.
_MEMORY_PER_DOCUMENT_BYTE, _MIN_DOCUMENT_BYTES = 10, 4 << 20
_MIN_CHUNK_BYTES, _MAX_CHUNK_BYTES = 1 << 16, 1 << 23

# Words of texts that are kept by default, in Python and on the command line.
DEFAULT_MIN_DF, DEFAULT_MAX_DF, DEFAULT_MAX_WORDS = 5, 0.3, 100_000
# In a small corpus, the limits of how rare a word may be, as one document of this many, and of how common.
_SMALL_MIN_SHARE, _SMALL_MAX_DF = 100, 10


# Every length is counted by itself, so that a huge one would never end.
MAX_NGRAM = 100


@dataclass(frozen=True, kw_only=True)
class CorpusOptions:
    """Options for reading files, splitting texts into words and choosing the words to count.

    Parameters
    ----------
    text : str or sequence of str, optional
        Column that holds the text. Several columns are joined by line breaks. By default the only column of strings,
        or the one called text, body, content, review, description or message.
    id : str, optional
        Column that names the documents.
    keep : sequence of str, "auto" or None, default="auto"
        Columns to keep with the text. "auto" keeps a title, a link, dates, categories with few values and numbers.
    format : str, optional
        One of `FORMATS`. By default the suffixes of the files decide.
    encoding : str
        Encoding of text files. It must keep ASCII unchanged.
    no_header : bool
        Whether the first row of CSV, TSV and Excel is data. Columns are then called "column 1", "column 2" and so on.
    skip_bad_rows : bool
        Whether to skip rows of CSV, TSV and JSON that cannot be read, and to count them. By default they are errors.
    vocabulary : path, optional
        File with one word per line, for ready-made counts.
    token_pattern : str, optional
        Regular expression that matches one word. By default words are runs of at least two letters, combining marks
        and digits that begin or end with a letter. Of scripts without spaces (Chinese, Japanese, Thai, Lao, Khmer,
        Burmese), overlapping pairs of characters are counted.
    tokenizer : callable, optional
        Function from a cleaned text to a list of its words, such as ``jieba.lcut``. It replaces `token_pattern`. An
        index cannot store it: to add documents, pass it again.
    lowercase : bool
        Whether to convert texts to lower case, by `str.lower`.
    normal_form : {"NFKC", "NFC"} or None
        Unicode normal form of the words. NFKC maps the ligature "ﬁ" to "fi", full-width letters to plain ones and
        decomposed accents to composed ones. Stored texts stay unchanged.
    strip_tags : bool
        Whether to remove HTML tags and resolve entities such as &amp;.
    stop_words : str, path or sequence of str, optional
        Words to leave out: "auto", "english", the code of another language such as "fr", a file with one word per
        line, or the words. "auto" takes the frequent stop words of the languages that occur in the texts; ready-made
        counts keep theirs.
    ngrams : (int, int)
        Shortest and longest sequence of words to count. (1, 2) adds pairs such as "new york".
    phrases : bool
        Whether to count pairs of adjacent words that mean more than their parts, such as "machine translation", and
        names with a number, such as "gpt-4", in addition to their words. Longer `ngrams` count all pairs anyway.
    min_df, max_df : int or float, optional
        Smallest and largest number of documents that a counted word occurs in. A float is a share of all documents.
        By default words of texts are in at least 5 documents and at most 0.3 of them, fewer and more in a corpus of
        less than 500 and of less than 34 documents. All words of ready-made counts stay.
    max_words : int, optional
        Keep only this number of words, the most frequent ones. By default 100,000 of texts, all of ready-made counts.
    drop_duplicates : {"exact", "near"} or None
        Leave out documents that repeat an earlier one: exactly, or with an estimated Jaccard similarity of at least
        0.8 between their sequences of three words.
    keep_texts : bool
        Whether to keep the texts together with the counts.
    memory : int
        Bytes that the chunks in progress may use together. A document may have a tenth of them, or 4 MiB; a longer one
        is an error. The distinct words (24 bytes each) and the fingerprints of `drop_duplicates` (100 bytes per
        document, 1 kB for near duplicates) come on top.
    n_jobs : int, optional
        Number of threads that count. None and -1 mean one per core.

    Examples
    --------
    >>> from mixsearch.text import CorpusOptions, count_texts
    >>> options = CorpusOptions(tokenizer=str.split, stop_words=["the"])
    >>> with count_texts(["The runner's run", "A good run"], options) as corpus:
    ...     print(corpus.vocabulary)
    ['a', 'good', 'run', "runner's"]
    """

    text: str | Sequence[str] | None = None
    id: str | None = None
    keep: KeptColumns = "auto"
    format: Format | None = None
    encoding: str = "utf-8"
    no_header: bool = False
    skip_bad_rows: bool = False
    vocabulary: str | os.PathLike[str] | None = None
    token_pattern: str | None = None
    tokenizer: Tokenizer | None = None
    lowercase: bool = True
    normal_form: Literal["NFKC", "NFC"] | None = "NFKC"
    strip_tags: bool = False
    stop_words: str | os.PathLike[str] | Sequence[str] | None = "auto"
    ngrams: tuple[int, int] = (1, 1)
    phrases: bool = True
    min_df: int | float | None = None
    max_df: int | float | None = None
    max_words: int | None = None
    drop_duplicates: Literal["exact", "near"] | None = None
    keep_texts: bool = True
    memory: int = 256_000_000
    n_jobs: int | None = None

    def __post_init__(self) -> None:
        _check_choice("format", self.format, (None, *FORMATS))
        _check_choice("normal_form", self.normal_form, (None, "NFC", "NFKC"))
        _check_choice("drop_duplicates", self.drop_duplicates, (None, "exact", "near"))
        _check_frequency("min_df", self.min_df)
        _check_frequency("max_df", self.max_df)
        _check_ngrams(self.ngrams)
        _check_positive("max_words", self.max_words)
        _check_positive("memory", self.memory)
        _check_positive("n_jobs", None if self.n_jobs == -1 else self.n_jobs)
        _check_encoding(self.encoding)
        _check_keep(self.keep)
        if self.tokenizer is not None and self.token_pattern is not None:
            raise ArgumentError(
                "{first} and {second} exclude each other: leave one out.",
                code="conflicting_arguments",
                first=Option("tokenizer"),
                second=Option("token_pattern"),
            )
        if self.token_pattern is not None:
            _check_pattern(self.token_pattern)

    @property
    def counts_phrases(self) -> bool:
        """Whether phrases are counted."""
        return self.phrases and tuple(self.ngrams) == (1, 1)


def list_text_columns(options: CorpusOptions) -> tuple[str, ...]:
    """Return the text columns that the caller has named; none if they are to be found."""
    text = options.text
    return () if text is None else (text,) if isinstance(text, str) else tuple(text)


def list_named_columns(options: CorpusOptions) -> tuple[str, ...]:
    """Return all columns that the caller has named: of the text, of the id and to keep."""
    keep = () if options.keep is None or isinstance(options.keep, str) else tuple(options.keep)
    return (*list_text_columns(options), *(() if options.id is None else (options.id,)), *keep)


def count_threads(options: CorpusOptions) -> int:
    """Return the number of threads that count."""
    return available_cores() if options.n_jobs in (None, -1) else int(options.n_jobs or 1)


def limit_chunk_bytes(options: CorpusOptions) -> int:
    """Return the bytes of text per chunk with which all chunks in progress stay within the memory."""
    share = options.memory // (_BYTES_PER_CHARACTER * (count_threads(options) + 1))
    return min(max(share, _MIN_CHUNK_BYTES), _MAX_CHUNK_BYTES)


def limit_document_bytes(options: CorpusOptions) -> int:
    """Return the bytes that one document may have, so that the work on it stays near the memory."""
    return max(options.memory // _MEMORY_PER_DOCUMENT_BYTE, _MIN_DOCUMENT_BYTES)


class WordLimits(NamedTuple):
    """Which words are counted: the number or share of documents that have them, and how many words at most."""

    min_df: int | float
    max_df: int | float
    max_words: int | None


def choose_limits(options: CorpusOptions, n_documents: int, *, are_texts: bool) -> WordLimits:
    """Return the limits of the options, and the defaults for texts or for ready-made counts."""
    limits = WordLimits(1, 1.0, None)
    if are_texts:
        min_df = min(DEFAULT_MIN_DF, max(n_documents // _SMALL_MIN_SHARE, 1))
        is_small = n_documents * DEFAULT_MAX_DF < _SMALL_MAX_DF
        limits = WordLimits(min_df, _SMALL_MAX_DF if is_small else DEFAULT_MAX_DF, DEFAULT_MAX_WORDS)
    given = {name: getattr(options, name) for name in WordLimits._fields}
    return limits._replace(**{name: value for name, value in given.items() if value is not None})


def normalize_text(text: str, options: CorpusOptions) -> str:
    """Return a text in the Unicode normal form and the case in which words are counted."""
    if options.normal_form is not None and not text.isascii():
        text = unicodedata.normalize(options.normal_form, text)
    return text.lower() if options.lowercase else text


def _check_choice(name: str, value: object, choices: Sequence[object]) -> None:
    if value not in choices:
        raise ArgumentError(
            "{argument} must be one of {choices}, got {value!r}.",
            argument=Option(name),
            value=value,
            choices=", ".join(map(repr, choices)),
        )


def _check_frequency(name: str, value: int | float | None) -> None:
    if value is None:
        return
    is_valid = 0 <= value <= 1 if isinstance(value, float) else value >= 1 and not isinstance(value, bool)
    if not is_valid:
        raise ArgumentError(
            "{argument} must be a number of documents (a positive integer) or a share of them (a float from 0.0 to "
            "1.0), got {value!r}.",
            argument=Option(name),
            value=value,
        )


def _check_ngrams(ngrams: Sequence[int]) -> None:
    if len(ngrams) != 2 or not 1 <= ngrams[0] <= ngrams[1] <= MAX_NGRAM:
        raise ArgumentError(
            "{argument} must be the shortest and the longest length, such as (1, 2) for words and pairs and {maximum} "
            "at most, got {value!r}.",
            argument=Option("ngrams"),
            maximum=MAX_NGRAM,
            value=ngrams,
        )


def _check_positive(name: str, value: int | None) -> None:
    if value is not None and value < 1:
        raise ArgumentError("{argument} must be a positive integer, got {value!r}.", argument=Option(name), value=value)


def _check_encoding(encoding: str) -> None:
    argument = Option("encoding")
    try:
        keeps_ascii = "{a\n".encode(encoding) == b"{a\n"
    except LookupError as error:
        raise ArgumentError(
            "{argument} must be an encoding that Python knows, such as 'utf-8' or 'cp1252', got {value!r}.",
            argument=argument,
            value=encoding,
        ) from error
    if not keeps_ascii:
        raise ArgumentError(
            "{argument} must keep ASCII unchanged, got {value!r}: convert the file with `iconv -f {value} -t utf-8`.",
            argument=argument,
            value=encoding,
        )


def _check_keep(keep: object) -> None:
    if isinstance(keep, str) and keep != "auto":
        raise ArgumentError(
            "{argument} must be a list of columns, 'auto' or None, got {value!r}.", argument=Option("keep"), value=keep
        )


def _check_pattern(pattern: str) -> None:
    argument = Option("token_pattern")
    try:
        n_groups = re.compile(pattern).groups
    except re.error as error:
        raise ArgumentError(
            "{argument} must be a regular expression, got {value!r}: {reason}.",
            argument=argument,
            value=pattern,
            reason=str(error),
        ) from error
    if n_groups > 1:
        raise ArgumentError(
            "{argument} must have at most 1 group, got {n_groups} in {value!r}: write (?:...) for the others.",
            argument=argument,
            value=pattern,
            n_groups=n_groups,
        )
