"""Texts to words: Polars finds the tokens of many texts at once; rules for words see each distinct token once."""

from __future__ import annotations

import html
import re
from collections.abc import Callable

import numpy as np
import polars as pl

from mixsearch._typing import Array
from mixsearch.errors import SearchError
from mixsearch.text.options import CorpusOptions

# Scripts without spaces. Katakana spells foreign words, so its runs stay whole.
_UNSPACED = r"\p{Han}\p{Hiragana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
_SCRIPTS = r"\p{Han}+|[\p{Hiragana}ー]+|\p{Thai}+|\p{Lao}+|\p{Khmer}+|\p{Myanmar}+"
# Marks belong to the spelling of a word, and joiners to that of Persian and of the Indian scripts.
_LETTER = rf"[\p{{L}}\p{{M}}\p{{N}}\u200c\u200d&&[^{_UNSPACED}\p{{Katakana}}ー\ufe00-\ufe0f]]"
_NAME = rf"[\p{{L}}&&{_LETTER}]{_LETTER}*(?:-\p{{N}}{_LETTER}*)+"
# What separates the words of a phrase: anything but one hyphen or a blank, and the end of a paragraph.
_BREAK = r"\s-+\s|--+|\n\s*\n|[^\s\p{L}\p{M}\p{N}-]+"
_TOKEN = rf"{_NAME}|{_LETTER}+|[\p{{Katakana}}ー]+|{_SCRIPTS}|{_BREAK}"
_WORD = rf"^(?:{_LETTER}{{2,}}|[\p{{Katakana}}ー]{{2,}})$"
# What a reader takes for a character, such as a consonant of Thai with the vowels around it; the last two code points
# write the next consonant below the one before.
_CHARACTER = r"[เแโใไເແໂໃໄ]?.(?:[\u17d2\u1039]\p{L}|[\p{M}ะาำๅະາຳー])*"
_HYPHENS = "[\u2010-\u2013]"
# A tag starts with a letter, a slash or an exclamation mark: "a < b" is not one.
_TAG = r"<[A-Za-z/!][^<>]*>"


def clean_texts(texts: pl.Series, options: CorpusOptions) -> pl.Series:
    """Return texts in the Unicode normal form and the case in which words are counted."""
    if options.strip_tags:
        # Entities come second: &lt;b&gt; is not a tag.
        texts = pl.Series(list(map(html.unescape, texts.str.replace_all(_TAG, " "))), dtype=pl.String)
    is_ascii = texts.str.len_bytes() == texts.str.len_chars()
    if not is_ascii.all():
        # NFKC maps the ligature "ﬁ" to "fi", full-width letters to plain ones, decomposed accents to composed ones.
        others = texts.filter(~is_ascii).str.normalize("NFKC").str.replace_all(_HYPHENS, "-")
        texts = texts.zip_with(is_ascii, others.gather(((~is_ascii).cum_sum().cast(pl.Int64) - 1).clip(0)))
    return texts.str.to_lowercase() if options.lowercase else texts


def normalize_text(text: str, options: CorpusOptions) -> str:
    """Return one text in the form in which words are counted."""
    return str(clean_texts(pl.Series([text]), options)[0])


def find_tokens(texts: pl.Series, options: CorpusOptions, locate: Callable[[int], str]) -> pl.Series:
    """Return the tokens of each text, lists of str; `locate` returns the place of a document, for errors.

    They are runs of letters or of other characters, which separate phrases, or what the user's own pattern or tokenizer
    takes for words.
    """
    cleaned = clean_texts(texts, options)
    if is_default(options):
        return cleaned.str.extract_all(_TOKEN)
    split = options.tokenizer or re.compile(options.token_pattern or "").findall
    lists = [_split(split, text, locate, i) for i, text in enumerate(cleaned.to_list())]
    return pl.Series(lists, dtype=pl.List(pl.String))


def is_default(options: CorpusOptions) -> bool:
    """Return whether words are found by the rules of this module, not by the user's own."""
    return options.tokenizer is None and options.token_pattern is None


def _split(split: Callable[[str], object], text: str, locate: Callable[[int], str], i: int) -> list[str]:
    try:
        # A generator may fail late, so it is exhausted here.
        returned = split(text)
        tokens = list(returned)  # type: ignore[call-overload]
    except Exception as error:
        raise SearchError(
            "The tokenizer raised {reason} at {place}.",
            code="tokenizer_failed",
            reason=f"{type(error).__name__}: {error}",
            place=locate(i),
        ) from error
    if isinstance(returned, str) or not all(isinstance(token, str) for token in tokens):
        raise SearchError(
            "The tokenizer must return a list of strings, but returned {returned} at {place}.",
            code="tokenizer_failed",
            returned=f"{returned!r:.80}",
            place=locate(i),
        )
    return [token for token in tokens if token]


def find_words(tokens: pl.Series) -> pl.DataFrame:
    """Return the words that each token is counted as, with columns `token`, its index, and `word`.

    A word is counted as itself, a name with a number also as its letters (gpt-4 and gpt), a run of a script without
    spaces as overlapping pairs of characters. In Chinese a pair is a word more often than not, elsewhere a good part of
    one. A single Chinese character is a word too, and so is a single one of another script that takes several letters.
    """
    frame = pl.DataFrame({"token": np.arange(len(tokens), dtype=np.uint32), "word": tokens})
    word = pl.col("word")
    is_word = word.str.contains(_WORD) & word.str.contains(r"\p{L}")
    heads = word.str.extract(r"^([^-]+)-", 1)
    names = frame.filter(word.str.contains(rf"^{_NAME}$"))
    words = [frame.filter(is_word), names, names.select("token", heads).filter(is_word)]
    runs = frame.filter(word.str.contains(rf"^(?:{_SCRIPTS})$") & word.str.contains(rf"[{_UNSPACED}]"))
    if runs.height:
        runs = runs.with_columns(word.str.extract_all(_CHARACTER)).explode("word")
        following = word.shift(-1).over("token")
        is_single = (pl.len().over("token") == 1) & (word.str.contains(r"^\p{Han}") | (word.str.len_chars() > 1))
        words.append(runs.filter(is_single))
        words.append(runs.select("token", pl.concat_str(word, following)).drop_nulls())
    return pl.concat(words).sort("token", maintain_order=True)


def split_words(text: str, options: CorpusOptions, is_known: Callable[[str], bool] = bool) -> list[str]:
    """Split a question into words as the texts of a corpus are; of a name with a number, the name or its letters."""
    tokens = find_tokens(pl.Series([text]), options, lambda _: "the question").explode().drop_nulls()
    if not is_default(options):
        return tokens.to_list()
    is_name = tokens.str.contains(rf"^{_NAME}$").to_list()
    words: list[str] = []
    name, previous = "", -1
    for token, word in find_words(tokens).iter_rows():
        if token == previous and is_name[token]:  # the letters of the name before
            words[-1] = name if is_known(name) else word
        else:
            words.append(word)
        name, previous = word, token
    return words


class Lexicon:
    """The distinct tokens of a corpus, numbered as they come.

    Attributes
    ----------
    is_word : array of shape (n,), bool
        Which tokens are words.
    hashes : array of shape (n,), uint64
        A hash of the letters of each, the same in every run.
    """

    def __init__(self, *, is_default: bool) -> None:
        self._kind, self._is_default = pl.Categorical(pl.Categories.random()), is_default
        self._numbered = pl.Series([], dtype=self._kind)  # Polars forgets categories that no series uses
        self._tokens: list[pl.Series] = []
        self._parts: list[pl.DataFrame] = []
        self.is_word, self.hashes = np.zeros(0, dtype=bool), np.zeros(0, dtype=np.uint64)

    @property
    def tokens(self) -> pl.Series:
        """The tokens by their numbers."""
        self._tokens = [pl.concat(self._tokens)] if self._tokens else [pl.Series([], dtype=pl.String)]
        return self._tokens[0]

    def number(self, tokens: pl.Series) -> tuple[Array, pl.Series]:
        """Return the number of each token, int32, and the tokens that are new."""
        numbers = self._number(tokens)
        new = self._add(tokens, numbers)
        if not self._is_default:
            self.is_word[len(self.is_word) - len(new) :] = True
            return numbers, new
        first = len(self.is_word) - len(new)
        parts = find_words(new)
        words = parts["word"]
        of_words = self._number(words)
        derived = self._add(words, of_words)
        self.is_word[of_words] = True
        owners = parts["token"].to_numpy().astype(np.int32) + np.int32(first)
        is_other = of_words != owners
        self._parts.append(pl.DataFrame({"token": owners[is_other], "part": of_words[is_other]}))
        return numbers, pl.concat([new, derived])

    def count_parts(self, documents: Array, numbers: Array, counts: Array) -> tuple[Array, Array, Array]:
        """Return the documents, numbers and counts of the words that tokens are counted as beside themselves."""
        self._parts = [pl.concat(self._parts)] if self._parts else []
        if not self._parts or not self._parts[0].height:
            return documents[:0], numbers[:0], counts[:0]
        has_parts = np.zeros(len(self.is_word), dtype=bool)
        has_parts[self._parts[0]["token"].to_numpy()] = True
        chosen = np.flatnonzero(has_parts[numbers])
        frame = pl.DataFrame({"token": numbers[chosen], "entry": chosen}).join(self._parts[0], on="token")
        entries = frame["entry"].to_numpy()
        return documents[entries], frame["part"].to_numpy(), counts[entries]

    def _number(self, tokens: pl.Series) -> Array:
        self._numbered = tokens.cast(self._kind)
        return self._numbered.to_physical().to_numpy().astype(np.int32)

    def _add(self, tokens: pl.Series, numbers: Array) -> pl.Series:
        """Add the tokens that are new, and return them in the order of their numbers."""
        largest = np.maximum.accumulate(np.append(np.int32(len(self.is_word) - 1), numbers))
        new = tokens.gather(np.flatnonzero(numbers > largest[:-1]))  # numbers rise with the first occurrence
        self._tokens.append(new)
        self.is_word = np.concatenate([self.is_word, np.zeros(len(new), dtype=bool)])
        self.hashes = np.concatenate([self.hashes, new.hash().to_numpy()])
        return new
