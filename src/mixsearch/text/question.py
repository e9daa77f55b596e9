"""Words of a question, split as the texts of a corpus are."""

from __future__ import annotations

from mixsearch.text.count.tokens import find_tokens, spell_tokens
from mixsearch.text.count.wordlists import list_stop_words
from mixsearch.text.options import CorpusOptions


def split_words(text: str, options: CorpusOptions) -> list[str]:
    """Split a question into words, as the texts of a corpus are.

    Parameters
    ----------
    text : str
        Words of a question.
    options : CorpusOptions
        How to split. Stop words are left out, unless there are no others.

    Returns
    -------
    list of str
        The words in order.

    Examples
    --------
    >>> split_words("State-of-the-art", CorpusOptions(stop_words=["of", "the"]))
    ['state', 'art']
    """
    words = spell_tokens(find_tokens([text], options, lambda _: "the question"))
    stop_words = set(list_stop_words(options))
    return [word for word in words if word not in stop_words] or words
