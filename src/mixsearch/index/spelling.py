"""Words and texts of a hint, spelled and counted as those of an index are."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from mixsearch.errors import UnknownWordError
from mixsearch.index.completion import SortedWords
from mixsearch.text.options import CorpusOptions
from mixsearch.text.stop_words import list_stop_words
from mixsearch.text.tokens import normalize_text, split_words
from mixsearch.topics.hint import join_weights, warn_of_skipped

# What makes a word a pattern.
_SIGNS = frozenset("*?")
# A number or a letter that stands alone, not the "t" of "don't".
_SINGLE = re.compile(r"(?<![\w'\u2019])(?:\d+|[A-Za-z\u00c0-\u04ff])(?![\w'\u2019])")


def read_token_options(tokens: Mapping[str, Any]) -> CorpusOptions:
    """Return the options by which an index splits texts, without a limit on the words."""
    return CorpusOptions(**{**tokens, "min_df": 1, "max_df": 1.0})


def spell_word(word: str, options: CorpusOptions, known: SortedWords, count_documents: Callable[[str], int]) -> str:
    """Spell a word as the vocabulary does. What the texts have as several words becomes a phrase."""
    spelled = normalize_text(word)
    if known.count_documents(spelled) or not _SIGNS.isdisjoint(spelled):
        return spelled
    return _split_phrase(spelled, options, known, count_documents)


def _split_phrase(
    phrase: str, options: CorpusOptions, known: SortedWords, count_documents: Callable[[str], int]
) -> str:
    """Return the words of a phrase with blanks between them; the phrase if it has none."""
    words = split_words(phrase, options, lambda word: bool(count_documents(word)))
    if len(words) > 1:  # reading the stop words takes longer than all the rest
        stop_words = set(list_stop_words(options))
        words = [word for word in words if word not in stop_words] or words
    if len(words) > 1 and len("".join(words)) > len(phrase):
        # Of overlapping pairs of characters, those across two words are often too rare to be counted.
        words = [word for word in words if known.count_documents(word)] or words
    return " ".join(words) or phrase


def _warn_of_lost(word: str, spelled: str, options: CorpusOptions) -> None:
    """Warn of the numbers and letters of a word that its spelling lacks, except stop words."""
    lost = set(_SINGLE.findall(normalize_text(word))) - set(_SINGLE.findall(spelled))
    sentence = "{typed!r} is read as {spelled!r}: {word!r} is not counted as a word."
    if lost and (lost := lost.difference(list_stop_words(options))):
        facts = {"typed": word, "spelled": spelled}
        reasons = [UnknownWordError(sentence, code="word_not_counted", word=each, **facts) for each in sorted(lost)]
        warn_of_skipped(dict(zip(sorted(lost), reasons, strict=True)))


def spell_hint(words: Any, spell: Callable[[str], str], options: CorpusOptions | None = None) -> Any:
    """Spell the words of a hint; column numbers stay unchanged, an iterator becomes a list."""

    def spell_one(word: Any) -> Any:
        if not isinstance(word, str):
            return word
        spelled = spell(word)
        if options is not None:
            _warn_of_lost(word, spelled, options)
        return spelled

    if isinstance(words, Mapping):
        return join_weights((spell_one(word), weight) for word, weight in words.items())
    if isinstance(words, str) or not isinstance(words, Iterable):
        return spell_one(words)
    return [spell_one(word) for word in words]


def count_known_words(texts: Sequence[str], options: CorpusOptions, vocabulary: Sequence[str]) -> sp.csr_array:
    """Count the words of texts that are in the vocabulary, (n, d)."""
    from mixsearch.text.count import count_texts  # with readers of all formats, which words need not wait for

    with count_texts(texts, options, known=vocabulary) as corpus:
        return sp.csr_array(corpus.to_counts().astype(np.float64))
