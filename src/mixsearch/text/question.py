"""Words of a question, split as the texts of a corpus are."""

from __future__ import annotations

from collections.abc import Callable

from mixsearch.text.count.stop_words import list_stop_words
from mixsearch.text.count.tokens import find_tokens, spell_tokens
from mixsearch.text.options import CorpusOptions


def split_words(text: str, options: CorpusOptions, is_known: Callable[[str], bool] = bool) -> list[str]:
    """Split a question into words, as the texts of a corpus are."""
    words = spell_tokens(find_tokens([text], options, lambda _: "the question"))
    if len(words) > 1:  # reading the stop words takes longer than all the rest
        stop_words = set(list_stop_words(options))
        words = [word for word in words if word not in stop_words] or words
    return _choose_names(words, is_known)


def _choose_names(words: list[str], is_known: Callable[[str], bool]) -> list[str]:
    """Return either the letters of a name with a number, which come before it, or the name."""
    chosen: list[str] = []
    for word in words:
        is_name = bool(chosen) and "-" in word and word.startswith(chosen[-1])
        if is_name and is_known(word):
            chosen[-1] = word
        elif not is_name:
            chosen.append(word)
    return chosen
