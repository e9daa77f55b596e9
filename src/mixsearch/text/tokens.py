"""Texts to words: Polars finds the tokens of many texts at once; rules for words see each distinct token once."""

from __future__ import annotations

import html
from collections.abc import Callable

import numpy as np
import polars as pl

from mixsearch._typing import Array

# Scripts without spaces. Katakana spells foreign words, so its runs stay whole.
_UNSPACED = r"\p{Han}\p{Hiragana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
_SCRIPTS = r"\p{Han}+|[\p{Hiragana}ー]+|\p{Thai}+|\p{Lao}+|\p{Khmer}+|\p{Myanmar}+"
# Marks belong to the spelling of a word, and joiners to that of Persian and of the Indian scripts.
_LETTER = rf"[\p{{L}}\p{{M}}\p{{N}}\u200c\u200d&&[^{_UNSPACED}\p{{Katakana}}ー\ufe00-\ufe0f]]"
# Hyphens join words and names: zero-day, cve-2022-0001, gpt-3.5.
_COMPOUND = rf"{_LETTER}+(?:-{_LETTER}+)+(?:\.\p{{N}}+)*"
# A name with a number may be joined to more: gpt-4-based.
_NAME = rf"{_LETTER}+(?:-\p{{N}}{_LETTER}*)+(?:\.\p{{N}}+)*"
# The letters after a number with a decimal point are not a word: $1.2bn, 1,000km.
_NUMBER = rf"\p{{N}}+(?:[.,]\p{{N}}+)+{_LETTER}*"
# What separates the words of a phrase: anything but one hyphen or a blank, and the end of a paragraph.
_BREAK = r"\s-+\s|--+|\n\s*\n|[^\s\p{L}\p{M}\p{N}-]+"
_TOKEN = rf"{_COMPOUND}|{_NUMBER}|{_LETTER}+|[\p{{Katakana}}ー]+|{_SCRIPTS}|{_BREAK}"
_WORD = rf"^(?:{_LETTER}{{2,}}|[\p{{Katakana}}ー]{{2,}})$"
# What a reader takes for a character, such as a consonant of Thai with the vowels around it; the last two code points
# write the next consonant below the one before.
_CHARACTER = r"[เแโใไເແໂໃໄ]?.(?:[\u17d2\u1039]\p{L}|[\p{M}ะาำๅະາຳー])*"
_HYPHENS = "[\u2010-\u2013]"
_ENTITY = r"&(?:#\d+|#x[0-9a-f]+|[A-Za-z]+\d*);"
# The usual tags, in lower case: <GM> is a share, <stdio.h> a file. And what every URL starts with.
_MARKUP = (
    r"https?://(?:www\.)?|</?(?:a|b|blockquote|br|center|code|div|em|font|h[1-6]|hr|i|img|li|ol|p|pre|span|strong|sub|sup|table|tbody|td|th"
    r"|thead|tr|tt|u|ul)(?:\s[^<>]*)?/?>"
)
# Other tokens only separate words.
_COUNTED = r"[\p{L}\p{N}]"
# Nobody searches for longer words: encoded files and the like.
_MAX_LETTERS = 60


def normalize_texts(texts: pl.Series) -> pl.Series:
    """Return texts without markup, in lower case and Unicode normal form, as words are counted."""
    texts = _convert_some(texts, texts.str.contains(_MARKUP), lambda some: some.str.replace_all(_MARKUP, " "))
    # Entities come second: &lt;b&gt; is not a tag.
    texts = _convert_some(texts, texts.str.contains(_ENTITY), lambda some: _to_series(map(html.unescape, some)))
    # NFKC maps the ligature "ﬁ" to "fi", full-width letters to plain ones, decomposed accents to composed ones.
    has_others = texts.str.len_bytes() > texts.str.len_chars()
    texts = _convert_some(texts, has_others, lambda some: some.str.normalize("NFKC").str.replace_all(_HYPHENS, "-"))
    return texts.str.to_lowercase()


def _convert_some(texts: pl.Series, mask: pl.Series, convert: Callable[[pl.Series], pl.Series]) -> pl.Series:
    rows = mask.arg_true()
    return texts.scatter(rows, convert(texts.gather(rows))) if len(rows) else texts


def _to_series(texts: object) -> pl.Series:
    return pl.Series(list(texts), dtype=pl.String)  # type: ignore[call-overload]


def normalize_text(text: str) -> str:
    """Return one text in the form in which words are counted."""
    return str(normalize_texts(pl.Series([text]))[0])


def find_tokens(texts: pl.Series) -> pl.Series:
    """Return the tokens of each text, lists of str: runs of letters or of what separates phrases."""
    return normalize_texts(texts).str.extract_all(_TOKEN)


def find_words(tokens: pl.Series) -> pl.DataFrame:
    """Return the words that each token is counted as, with columns `token`, its index, and `word`.

    A word is counted as itself, a compound also as its parts (gpt-4 and gpt), a run of a script without spaces as
    overlapping pairs of characters. In Chinese a pair is a word more often than not, elsewhere a good part of one. A
    single Chinese character is a word too, and so is a single one of another script that takes several letters.
    """
    frame = pl.DataFrame(
        {"token": np.arange(len(tokens), dtype=np.int32), "word": tokens}, schema_overrides={"word": pl.String}
    )
    word = pl.col("word")
    frame = frame.filter(word.str.len_chars().is_between(1, _MAX_LETTERS) | word.str.contains(f"[{_UNSPACED}]"))
    has_letter = frame.filter(word.str.contains(r"\p{L}"))
    is_word = word.str.contains(_WORD) & word.str.contains(r"\p{L}")
    compounds = has_letter.filter(word.str.contains(rf"^{_COMPOUND}$"))
    parts = compounds.with_columns(word.str.split("-")).explode("word").unique(maintain_order=True)
    names = compounds.with_columns(word.str.extract(rf"^({_NAME})-\p{{L}}", 1)).drop_nulls()
    words = [has_letter.filter(is_word), compounds, names, parts.filter(is_word)]
    runs = has_letter.filter(word.str.contains(rf"^(?:{_SCRIPTS})$") & word.str.contains(rf"[{_UNSPACED}]"))
    if runs.height:
        runs = runs.with_columns(word.str.extract_all(_CHARACTER)).explode("word")
        following = word.shift(-1).over("token")
        is_single = (pl.len().over("token") == 1) & (word.str.contains(r"^\p{Han}") | (word.str.len_chars() > 1))
        words.append(runs.filter(is_single))
        words.append(runs.select("token", pl.concat_str(word, following)).drop_nulls())
    return pl.concat(words).sort("token", maintain_order=True)


def split_words(text: str, is_known: Callable[[str], bool] = bool) -> list[str]:
    """Split a question into words as the texts of a corpus are; of a compound, itself if it is known, or its parts."""
    tokens = find_tokens(pl.Series([text])).explode().drop_nulls()
    words: list[str] = []
    for (token,), rows in find_words(tokens).group_by("token", maintain_order=True):
        compound, listed = tokens[token], rows["word"].to_list()
        if compound in listed:
            listed = [compound] if len(listed) == 1 or is_known(compound) else listed[1:]
        words += listed
    return words


class Lexicon:
    """The distinct tokens of a corpus, numbered as they come.

    Attributes
    ----------
    is_counted : array of shape (n,), bool
        Which tokens have a letter or a digit. The others only separate words.
    hashes : array of shape (n,), uint64
        A hash of the letters of each, the same in every run.
    """

    def __init__(self) -> None:
        self._kind = pl.Categorical(pl.Categories.random())
        self._numbered = pl.Series([], dtype=self._kind)  # Polars forgets categories that no series uses
        self._tokens = [pl.Series([], dtype=pl.String)]
        self.is_counted, self.hashes = np.zeros(0, dtype=bool), np.zeros(0, dtype=np.uint64)

    @property
    def tokens(self) -> pl.Series:
        """The tokens by their numbers."""
        return pl.concat(self._tokens)

    def number(self, tokens: pl.Series) -> Array:
        """Return the number of each token, int32. New tokens are added."""
        self._numbered = tokens.cast(self._kind)
        numbers = self._numbered.to_physical().to_numpy().astype(np.int32)
        # Numbers rise with the first occurrence.
        largest = np.maximum.accumulate(np.append(np.int32(len(self.hashes) - 1), numbers))
        new = tokens.gather(np.flatnonzero(numbers > largest[:-1]))
        self._tokens.append(new)
        self.is_counted = np.concatenate([self.is_counted, new.str.contains(_COUNTED).to_numpy()])
        self.hashes = np.concatenate([self.hashes, new.hash().to_numpy()])
        return numbers
