"""Words to start with: one for each of several topics, and a second one that describes the topic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mixsearch._typing import Array
from mixsearch.topics.corpus import FittedCorpus

# Words whose directions have a larger cosine are mostly about one topic.
SAME_TOPIC = 0.5
# The second word is at least this much like the first.
MIN_COSINE = 0.3
# Words that differ most between topics: how many are considered for each that is wanted, and at least.
N_CONSIDERED, MIN_CONSIDERED = 20, 400
# A second word is rather one of those that differ much between topics, too.
_POWER_OF_VARIANCE = 0.25
# What is left of "don't" and "we've" is no word; one with fewer letters, or beginning with a digit, mostly neither.
_FRAGMENTS = {"ain", "aren", "couldn", "didn", "doesn", "don", "hadn", "hasn", "haven", "isn", "mustn"}
_FRAGMENTS |= {"shouldn", "wasn", "weren", "wouldn"}
_MIN_LETTERS = 3
# The words of English that every text has: pronouns, prepositions, conjunctions, auxiliaries, determiners, adverbs.
_LISTED = """
about above across after afterwards again against all almost alone along already also although always among amongst
and another any anyhow anyone anything anyway anywhere are around been before beforehand behind being below beside
besides between beyond both but can cannot could did does doing done down during each either else elsewhere enough
etc even ever every everyone everything everywhere except few first for former formerly from further get give had
has have having hence her here hereby herein hers herself him himself his how however indeed instead into its itself
just last latter least less many may meanwhile might mine more moreover most mostly much must myself namely neither
never nevertheless next nobody none nor not nothing now nowhere off often once one only onto other others otherwise
our ours ourselves out over own per perhaps please put quite rather really same see seem seemed seeming seems
several shall she should since some somehow someone something sometime sometimes somewhere still such than that the
their theirs them themselves then thence there thereafter thereby therefore therein these they this those though
through throughout thus together too toward towards two under until upon used using various very via was well were
what whatever when whence whenever where whereas whereby wherein wherever whether which while who whoever whole whom
whose why will with within without would yet you your yours yourself yourselves
"""
_FUNCTION_WORDS = frozenset(_LISTED.split())
# A word that most of its documents have in one phrase is offered as that phrase: "fine tuning" rather than "fine".
_MAIN_PHRASE = 0.5
# Words with the same first letters are mostly forms of one.
_N_STEM = 4


@dataclass(frozen=True)
class Starter:
    """A word to begin with."""

    word: str
    other: str | None
    n_documents: int

    @property
    def name(self) -> str:
        """Both words."""
        return self.word if self.other is None else f"{self.word} {self.other}"


def choose_starters(fitted: FittedCorpus, vocabulary: Sequence[str], n: int) -> list[Starter]:
    """Return words that differ most between topics, one per topic."""
    variances = fitted.word_variances
    ranked = np.argsort(-variances, kind="stable").tolist()
    meaningful = [column for column in ranked if _is_meaningful(vocabulary[column])] or ranked
    columns = np.array(meaningful[: max(N_CONSIDERED * n, MIN_CONSIDERED)], dtype=np.intp)
    directions = fitted.word_directions(columns)
    weights = variances[columns] ** _POWER_OF_VARIANCE
    phrases = find_main_phrases(vocabulary, fitted.document_frequencies)
    chosen: list[int] = []
    starters: list[Starter] = []
    for position, column in enumerate(columns.tolist()):
        if len(starters) == n:
            break
        cosines = directions @ directions[position]
        if chosen and cosines[chosen].max() > SAME_TOPIC:
            continue
        chosen.append(position)
        named = phrases.get(vocabulary[column], column)
        other = _find_other(vocabulary[named], vocabulary, columns, cosines, weights)
        starters.append(Starter(vocabulary[named], other, int(fitted.document_frequencies[named])))
    return starters


def find_main_phrases(vocabulary: Sequence[str], document_frequencies: Array) -> dict[str, int]:
    """Return the columns of phrases that most documents of a word have, by word."""
    columns = {word: column for column, word in enumerate(vocabulary)}
    phrases: dict[str, int] = {}
    for phrase, column in columns.items():
        for word in phrase.split() if " " in phrase else ():
            n_documents = document_frequencies[columns[word]] if word in columns else 0
            best = max(_MAIN_PHRASE * n_documents, document_frequencies[phrases[word]] if word in phrases else 0)
            if n_documents > 0 and document_frequencies[column] > best:
                phrases[word] = column
    return phrases


def _is_meaningful(word: str) -> bool:
    is_long = len(word) >= _MIN_LETTERS or not word.isascii()
    return is_long and word[0].isalpha() and word not in _FUNCTION_WORDS and word not in _FRAGMENTS


def _find_other(first: str, vocabulary: Sequence[str], columns: Array, cosines: Array, weights: Array) -> str | None:
    """Return the word that is most like another one and not a form of it."""
    for other in np.argsort(-cosines * weights, kind="stable").tolist():
        word: str = vocabulary[columns[other]]
        if cosines[other] < MIN_COSINE:
            continue
        if not _share_word(first, word):
            return word
    return None


def _share_word(one: str, other: str) -> bool:
    """Return whether two words or phrases have forms of one word in common."""
    pairs = ((a, b) for a in one.split() for b in other.split())
    return any(a.startswith(b[:_N_STEM]) or b.startswith(a[:_N_STEM]) for a, b in pairs)
