"""What a caller may choose about a corpus, checked before anything is read."""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from mixsearch.errors import SearchError

Tokenizer = Callable[[str], Sequence[str]]
Format = Literal["jsonl", "csv", "tsv", "parquet", "lines", "files", "docword", "mtx", "npz"]
FORMATS: tuple[Format, ...] = ("jsonl", "csv", "tsv", "parquet", "lines", "files", "docword", "mtx", "npz")

# Measured on mixed texts: characters, code points, masks, positions and hashes of one block while it is counted.
_BYTES_PER_CHARACTER = 40
_SMALLEST_BLOCK, _LARGEST_BLOCK = 1 << 16, 1 << 23


@dataclass(frozen=True, kw_only=True)
class CorpusOptions:
    """How files become documents, documents become words, and which words are counted.

    Parameters
    ----------
    text : str or sequence of str, optional
        The column that holds the text; several are joined by line breaks. By default the only column of strings, or
        one called text, body, content, review, description or message.
    id : str, optional
        The column that names the documents.
    format : str, optional
        One of `FORMATS`, where the file name does not tell.
    encoding : str
        Of text files; any that keeps ASCII as it is.
    vocabulary : path, optional
        One word per line, for ready-made counts. By default a vocab file beside a docword file.
    token_pattern : str, optional
        A regular expression of Python whose matches are the words. By default words are runs of at least two letters,
        combining marks and digits that begin or end with a letter.
    tokenizer : callable, optional
        From a text to its words, instead of a pattern; it gets the cleaned text.
    lowercase : bool
        Whether "The" and "the" are one word, by `str.lower`.
    normal_form : {"NFKC", "NFC"} or None
        NFKC makes one word of the ligature "ﬁ" and "fi", of full-width and plain letters, of composed and decomposed
        accents: all look alike to whoever searches. Texts themselves are kept as they are.
    strip_tags : bool
        Whether HTML tags separate words instead of being words, and entities such as &amp; are resolved.
    stop_words : str, path or sequence of str, optional
        Words to leave out: "english", a file with one word per line, or the words.
    ngrams : (int, int)
        The shortest and longest sequences of words to count; (1, 2) adds pairs such as "new york".
    min_df, max_df : int or float
        In how many documents a word must, and may, occur; a float is a share of all documents.
    max_words : int, optional
        Keep only so many words, those that occur most often.
    drop_duplicates : {"exact", "near"} or None
        Leave out documents that repeat an earlier one: letter by letter, or in at least eight of ten sequences of
        three words, as estimated.
    keep_texts : bool
        Whether blocks come with their texts.
    memory : int
        Bytes that the blocks at work may take together. A single longer document, the distinct words (24 bytes each),
        and what `drop_duplicates` remembers (100 bytes a document, or 1 kB for near ones) come on top.
    tmp_dir : path, optional
        Where the temporary folder is made; by default where TMPDIR says.
    n_jobs : int, optional
        Threads that count; None or -1 is one for each core.
    """

    text: str | Sequence[str] | None = None
    id: str | None = None
    format: Format | None = None
    encoding: str = "utf-8"
    vocabulary: str | os.PathLike[str] | None = None
    token_pattern: str | None = None
    tokenizer: Tokenizer | None = None
    lowercase: bool = True
    normal_form: Literal["NFKC", "NFC"] | None = "NFKC"
    strip_tags: bool = False
    stop_words: str | os.PathLike[str] | Sequence[str] | None = None
    ngrams: tuple[int, int] = (1, 1)
    min_df: int | float = 1
    max_df: int | float = 1.0
    max_words: int | None = None
    drop_duplicates: Literal["exact", "near"] | None = None
    keep_texts: bool = True
    memory: int = 256_000_000
    tmp_dir: str | os.PathLike[str] | None = None
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
        if self.tokenizer is not None and self.token_pattern is not None:
            raise SearchError("Found both a tokenizer and a token_pattern, needed at most one: leave one out.")
        if self.token_pattern is not None:
            _check_pattern(self.token_pattern)

    @property
    def text_columns(self) -> tuple[str, ...]:
        """The columns asked for; none where they are to be found."""
        return () if self.text is None else (self.text,) if isinstance(self.text, str) else tuple(self.text)

    @property
    def n_threads(self) -> int:
        """Threads that count."""
        return os.cpu_count() or 1 if self.n_jobs in (None, -1) else int(self.n_jobs or 1)

    @property
    def block_bytes(self) -> int:
        """Bytes of text in a block, so that the blocks at work stay within the memory."""
        share = self.memory // (_BYTES_PER_CHARACTER * (self.n_threads + 1))
        return min(max(share, _SMALLEST_BLOCK), _LARGEST_BLOCK)

    def fold_case(self, text: str) -> str:
        """The text with one spelling for each word: its normal form, in lower case."""
        if self.normal_form is not None and not text.isascii():
            text = unicodedata.normalize(self.normal_form, text)
        return text.lower() if self.lowercase else text


def _check_choice(name: str, value: object, choices: Sequence[object]) -> None:
    if value not in choices:
        raise SearchError(f"Found {name}={value!r}, needed one of {', '.join(map(repr, choices))}.")


def _check_frequency(name: str, value: int | float) -> None:
    is_valid = 0 <= value <= 1 if isinstance(value, float) else value >= 1 and not isinstance(value, bool)
    if not is_valid:
        raise SearchError(
            f"Found {name}={value!r}, needed a number of documents (an int from 1) or a share of them (a float from "
            "0.0 to 1.0)."
        )


def _check_ngrams(ngrams: Sequence[int]) -> None:
    if len(ngrams) != 2 or not 1 <= ngrams[0] <= ngrams[1]:
        raise SearchError(
            f"Found ngrams={ngrams!r}, needed the shortest and the longest length: (1, 2) counts words and pairs."
        )


def _check_positive(name: str, value: int | None) -> None:
    if value is not None and value < 1:
        raise SearchError(f"Found {name}={value!r}, needed at least 1.")


def _check_encoding(encoding: str) -> None:
    try:
        keeps_ascii = "{a\n".encode(encoding) == b"{a\n"
    except LookupError as error:
        raise SearchError(f"Found encoding={encoding!r}, which Python does not know: utf-8 or cp1252?") from error
    if not keeps_ascii:
        raise SearchError(
            f"Found encoding={encoding!r}, needed one that keeps ASCII: convert with `iconv -f {encoding} -t utf-8`."
        )


def _check_pattern(pattern: str) -> None:
    try:
        n_groups = re.compile(pattern).groups
    except re.error as error:
        raise SearchError(f"Found token_pattern={pattern!r}, which is no regular expression: {error}.") from error
    if n_groups > 1:
        raise SearchError(
            f"Found {n_groups} groups in token_pattern={pattern!r}, needed at most 1: write (?:...) for the others."
        )
