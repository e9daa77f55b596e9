"""Find the topics and words whose share changed between two groups of documents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.special import ndtri

from mixsearch._typing import Array, DataFrame
from mixsearch.data.arrow import import_pandas
from mixsearch.display import pluralize
from mixsearch.errors import ArgumentError, Option
from mixsearch.index.changes import Changes, compare_shares
from mixsearch.index.csv_rows import write_rows
from mixsearch.index.distinct import merge_outcomes, search_words
from mixsearch.index.groups import N_WORDS, Topics, name_topics
from mixsearch.index.overlap import compute_overlaps
from mixsearch.index.topic_index import TopicIndex
from mixsearch.topics import Topic

LEVEL = 0.95


@dataclass(frozen=True)
class Change:
    """A topic or a word whose share changed.

    Parameters
    ----------
    item : str
        The word, or the name of the topic.
    words : tuple of str
        Typical words of the topic; none for a word.
    before, after : float
        The topic's mean share of a document, or the share of the documents that contain the word.
    difference, low, high : float
        The change, with an interval. The 95% intervals hold for all topics, or all words, at once.
    """

    item: str
    words: tuple[str, ...]
    before: float
    after: float
    difference: float
    low: float
    high: float


@dataclass(frozen=True)
class CorpusChanges:
    """The topics and words that rose and fell between two groups of documents, the largest certain changes first.

    Parameters
    ----------
    before, after : str
        The filters of the two groups.
    n_before, n_after : int
        How many documents they have.
    n_topics, n_words : int
        How many topics and words were compared.
    risen_topics, fallen_topics, risen_words, fallen_words : tuple of Change
        Significant changes: their interval is on one side of 0.
    """

    before: str
    after: str
    n_before: int
    n_after: int
    n_topics: int
    n_words: int
    risen_topics: tuple[Change, ...]
    fallen_topics: tuple[Change, ...]
    risen_words: tuple[Change, ...]
    fallen_words: tuple[Change, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return the changes as JSON has them.

        Returns
        -------
        dict
        """
        return asdict(self)

    def list_rows(self) -> list[dict[str, Any]]:
        """Return one row for each change.

        Returns
        -------
        list of dict
            With kind ("topic" or "word"), direction ("risen" or "fallen"), and the fields of `Change`.
        """
        return [
            {"kind": kind, "direction": direction, **asdict(change), "words": " ".join(change.words)}
            for kind, direction, changes in self._kinds()
            for change in changes
        ]

    def _kinds(self) -> Iterator[tuple[str, str, tuple[Change, ...]]]:
        yield "topic", "risen", self.risen_topics
        yield "topic", "fallen", self.fallen_topics
        yield "word", "risen", self.risen_words
        yield "word", "fallen", self.fallen_words

    def to_frame(self) -> DataFrame:
        """Return a data frame of pandas, one row for each change.

        Returns
        -------
        DataFrame
        """
        return import_pandas().DataFrame(self.list_rows(), columns=list(_COLUMNS))

    def to_csv(self, *, for_spreadsheets: bool = False) -> str:
        """Return a table with a header, one row for each change.

        Parameters
        ----------
        for_spreadsheets : bool, default=False
            Put an apostrophe before text that a spreadsheet would read as a formula.

        Returns
        -------
        str
        """
        return write_rows(self.list_rows(), _COLUMNS, for_spreadsheets=for_spreadsheets)


_COLUMNS = ("kind", "direction", "item", "words", "before", "after", "difference", "low", "high")


def find_changes(
    index: TopicIndex,
    before: str,
    after: str,
    *,
    topics: Topics | None = None,
    n: int = 30,
    n_words: int = 15,
) -> CorpusChanges:
    """Find the topics and words whose share changed between two groups of documents.

    Parameters
    ----------
    index : TopicIndex
        The index.
    before, after : str
        Filters of the two groups, such as ``year between 2010 and 2015``. No document may match both.
    topics : str, Topic, sequence or mapping of them, optional
        The topics to compare; those of the overview by default.
    n : int, default=30
        How many words to choose for the overview.
    n_words : int, default=15
        The maximum number of words listed that rose, and that fell.

    Returns
    -------
    CorpusChanges

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> from mixsearch.datasets import make_reviews
    >>> from mixsearch.index import IndexOptions, build_index, find_changes, open_index
    >>> reviews = make_reviews(500, random_state=0).to_columns()
    >>> built = build_index(reviews, mkdtemp() + "/reviews.index", IndexOptions(n_components=12))
    >>> index = open_index(built.path)
    >>> changes = find_changes(index, "date < 2023-01-01", "date >= 2024-01-01", topics=["delivery", "sushi"])
    >>> [change.item for change in changes.risen_topics], changes.fallen_topics
    (['delivery'], ())
    """
    old, new = index.match(before), index.match(after)
    n_both = int(np.count_nonzero(old & new))
    if n_both:
        raise ArgumentError(
            "{n_documents:,} "
            + pluralize(n_both, "document matches", "documents match")
            + " both {before} and {after}. Choose filters that no document matches both.",
            code="groups_overlap",
            before=Option("before"),
            after=Option("after"),
            n_documents=n_both,
        )
    found = _find_topics(index, n) if topics is None else name_topics(index, topics)
    by_topic = compare_estimates(index.fitted.document_shares(list(found.values())), old, new)
    names = list(found)
    words = [tuple(word for word, _ in topic.top_words(N_WORDS)) for topic in found.values()]
    by_word = _compare_words(index, old, new)
    vocabulary = index.vocabulary or list(map(str, range(len(by_word.before))))
    return CorpusChanges(
        before=before,
        after=after,
        n_before=int(np.count_nonzero(old)),
        n_after=int(np.count_nonzero(new)),
        n_topics=len(found),
        n_words=len(vocabulary),
        risen_topics=_list_changes(by_topic, by_topic.list_rises(), names, words),
        fallen_topics=_list_changes(by_topic, by_topic.list_falls(), names, words),
        risen_words=_list_changes(by_word, by_word.list_rises()[:n_words], vocabulary),
        fallen_words=_list_changes(by_word, by_word.list_falls()[:n_words], vocabulary),
    )


def _find_topics(index: TopicIndex, n: int) -> dict[str, Topic]:
    """Return the topics of the overview, each under the word that singles it out best."""
    outcomes, _ = search_words(index, None, n=n, by="distinctive")
    found = [outcome for outcome in outcomes if outcome.topic is not None]
    topics = [outcome.topic for outcome in found if outcome.topic is not None]
    groups = merge_outcomes(found, compute_overlaps([topic.probabilities for topic in topics]))
    leaders = [group.members[0] for group in groups]
    return {found[leader].query.name: topics[leader] for leader in leaders}


def compare_estimates(shares: Array, before: Array, after: Array) -> Changes:
    """Compare the shares of topics in two groups of documents.

    Parameters
    ----------
    shares : array of shape (n, T)
        Estimates without bias for each document, also below 0 and above 1.
    before, after : arrays of shape (n,), of bool
        The documents of the two groups.

    Returns
    -------
    Changes
        As in `estimate_means`, what clipping adds is subtracted again, and its own error is added.
    """
    clipped = np.clip(shares, 0, 1)
    found = compare_shares(clipped, before, after, level=LEVEL)
    excess = [(clipped - shares)[group] for group in (before, after)]
    old, new = (each.mean(axis=0) for each in excess)
    error = np.sqrt(sum(each.var(axis=0) / len(each) for each in excess))
    # As many intervals as topics hold together.
    z = ndtri(0.5 + LEVEL ** (1 / max(shares.shape[1], 1)) / 2)
    shares_before, shares_after = np.clip(found.before - old, 0, 1), np.clip(found.after - new, 0, 1)
    difference = shares_after - shares_before
    return Changes(
        before=shares_before,
        after=shares_after,
        difference=difference,
        stderr=np.hypot(found.stderr, error),
        low=difference - np.hypot(found.difference - found.low, z * error),
        high=difference + np.hypot(found.high - found.difference, z * error),
    )


def _compare_words(index: TopicIndex, before: Array, after: Array) -> Changes:
    """Compare the parts of the documents that contain each word."""
    chosen = before | after
    counts = sp.vstack(
        [each.by_document[chosen[each.first : each.first + each.n_rows]] for each in index.fitted.segments]
    )
    holds = sp.csr_array((np.ones(counts.nnz), counts.indices, counts.indptr), shape=counts.shape)
    return compare_shares(holds, before[chosen], after[chosen], level=LEVEL)


def _list_changes(
    changes: Changes, chosen: Array, names: Sequence[str], words: Sequence[tuple[str, ...]] | None = None
) -> tuple[Change, ...]:
    fields = (changes.before, changes.after, changes.difference, changes.low, changes.high)
    return tuple(
        Change(names[i], () if words is None else words[i], *(float(each[i]) for each in fields))
        for i in chosen.tolist()
    )
