"""Stop words: those that the caller names, and those of the languages that occur in a corpus."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
import polars as pl
import scipy.sparse as sp
import stopwordsiso

from mixsearch.errors import ArgumentError, Option
from mixsearch.text.options import CorpusOptions
from mixsearch.text.tokens import normalize_texts

# The value of the option that leaves the choice to the corpus.
AUTO = "auto"
# Function words of English: the list of stopwordsiso has words that topics are about, such as computer and system.
_ENGLISH = (
    "about above across after again against all almost alone along already also although always am among an and "
    "another any anyone anything are around as at back be became because become been before behind being below "
    "between both but by can co could couldn de didn do doesn don done down due during each eight either else enough "
    "etc even ever every everyone everything except few find first five for former formerly found four from full "
    "further get give go had has have he her here him himself his how however if in inc into is isn it its itself "
    "keep last least less ll ltd made many may me might more most much must my myself never next nine no not nothing "
    "now of off often on once one only or other others our out over own per perhaps please put rather re same see "
    "seem seemed seems several she should since six so some someone something still such take than that the their "
    "them then there therefore these they this those though three through thus to together too towards twenty two "
    "under until up us ve very via was wasn we well were what when where whereas whether which while who whole why "
    "will with within without would wouldn yet you your"
)
# Lists have words of all kinds. Those that make up less than this share of the words of their language stay.
_MIN_SHARE = 1 / 2000
# A document needs this many different stop words of a language to be written in it: with one, questions of a line lose
# their words (AP on stackoverflow -.016).
_MIN_LISTED = 2
# A word stays if it is mostly used in languages that do not list it: "war" in English, beside some German.
_MIN_USED = 1 / 2


@cache
def list_words_of(language: str) -> frozenset[str]:
    """Return the stop words of a language, normalized as texts are."""
    words = _ENGLISH.split() if language == "en" else stopwordsiso.stopwords(language)
    return frozenset(normalize_texts(pl.Series(sorted(words), dtype=pl.String)))


def list_stop_words(options: CorpusOptions) -> list[str]:
    """Return the stop words that the caller has named, normalized as texts are; none if the corpus chooses."""
    words = options.stop_words
    if words is None or words == AUTO:
        return []
    if not isinstance(words, str):
        return sorted(set(normalize_texts(pl.Series(list(words), dtype=pl.String))))
    if words not in stopwordsiso.langs():
        raise ArgumentError(
            "{argument} must be 'auto', a list of words, or the code of a language ({codes}), got {value!r}.",
            argument=Option("stop_words"),
            codes=", ".join(sorted(stopwordsiso.langs())),
            value=words,
        )
    return sorted(list_words_of(words))


def choose_stop_words(words: Sequence[str], counts: sp.csr_array) -> tuple[list[str], list[str]]:
    """Choose the stop words of the languages that occur, given the counts of words in a sample of documents, (n, d).

    A document is in the language that lists most of its words. Returned are the frequent stop words, and all, which no
    phrase contains.
    """
    lists = [list_words_of(language) for language in sorted(stopwordsiso.langs())]
    column_of = {word: column for column, word in enumerate(words)}
    listed = sorted(word for word in set().union(*lists) if word in column_of)
    used = sp.csr_array(counts[:, [column_of[word] for word in listed]])
    is_listed = np.array([[word in language for language in lists] for word in listed], dtype=np.float32)
    is_listed = is_listed.reshape(len(listed), len(lists))  # also of no words
    # 1) the language of each document
    n_listed = (used > 0).astype(np.float32) @ is_listed
    is_clear = n_listed.max(axis=1) >= _MIN_LISTED
    documents, languages = np.flatnonzero(is_clear), n_listed.argmax(axis=1)[is_clear]
    # 2) the words of all documents of a language, and those of each stop word in languages that list it
    lengths = np.bincount(languages, counts.sum(axis=1)[documents], len(lists))
    entries = used[documents].tocoo()
    is_listed_there = is_listed[entries.col, languages[entries.row]] > 0
    in_language = np.bincount(entries.col, entries.data * is_listed_there, len(listed))
    # 3) the languages that occur, and their stop words
    occurs = lengths > 0
    is_stop = is_listed[:, occurs].any(axis=1) & (in_language >= _MIN_USED * used.sum(axis=0))
    is_frequent = in_language > _MIN_SHARE * (is_listed[:, occurs] @ lengths[occurs])
    frequent, every = ([listed[row] for row in np.flatnonzero(mask)] for mask in (is_stop & is_frequent, is_stop))
    return frequent, every
