"""Measure the coverage of the intervals of a topic over time.

Documents of twelve periods are drawn by LDA. In each corpus one topic rises from a third of its usual share to twice
that, and a word finds it: the one that singles it out. Truth is the share in the distribution that a period is drawn
from; the interval is that of `TopicIndex.group`, of shares after local EM on damped counts as an index has them by
default, or of moments on plain counts. slope: the median of the slope of estimated over true shares. plain: what
1.96 standard errors of the mean of the same estimates hold. Words that most often stand for another topic are left
out, as in topic_sizes.py. The standard error of the scale of shares after local EM was chosen on other seeds.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from measuring import measure, print_table, run_seeds, verdict

from mixsearch import TopicSearch
from mixsearch._typing import Array
from mixsearch.datasets import make_topics
from mixsearch.index.groups import estimate_means
from mixsearch.topics.corpus import FittedCorpus

N_PERIODS, N_WORDS = 12, 1000
MIN_PURITY = 0.4
# Name, topics, words per document, documents per period, sum of the Dirichlet parameters.
CORPORA = (
    ("few topics a document", 10, 100, 200, 0.3),
    ("short documents", 10, 30, 200, 0.3),
    ("many topics", 20, 100, 200, 0.3),
    ("few documents a period", 10, 100, 40, 0.3),
    ("many documents a period", 10, 100, 800, 0.3),
    ("many topics a document", 10, 100, 200, 2.0),
)


class Drawn(NamedTuple):
    """A corpus with the true shares of its first topic."""

    counts: sp.csr_array
    codes: Array  # the period of each document, (n,)
    truth: Array  # of each period, (12,)
    word: int  # that singles out the topic
    is_pure: bool  # whether documents with the word are about the topic


def draw_corpus(seed: int, n_topics: int, length: int, per_period: int, alpha0: float) -> Drawn:
    rng = np.random.default_rng(seed)
    topics = rng.dirichlet(np.full(N_WORDS, 0.05), size=n_topics)
    weights = np.tile(rng.dirichlet(np.full(n_topics, 5.0)), (N_PERIODS, 1))
    weights[:, 0] *= np.linspace(1 / 3, 2, N_PERIODS)
    weights /= weights.sum(axis=1, keepdims=True)
    codes = rng.permutation(np.repeat(np.arange(N_PERIODS), per_period))
    shares = np.stack([rng.dirichlet(alpha0 * weights[code]) for code in codes])
    by_topic = rng.multinomial(rng.poisson(length, len(codes)) + 3, shares)
    counts = np.zeros((len(codes), N_WORDS), dtype=np.int64)
    for topic, n_drawn in zip(topics, by_topic.T, strict=True):
        counts += rng.multinomial(n_drawn, topic)
    frequent = topics[0] >= np.sort(topics[0])[-20]
    word = int(np.argmax(np.where(frequent, topics[0] / topics.sum(axis=0), 0)))
    is_pure = bool(np.mean(shares[counts[:, word] > 0, 0] >= 0.25) >= MIN_PURITY)
    return Drawn(sp.csr_array(counts), codes, weights[:, 0], word, is_pure)


def cover(drawn: Drawn, n_topics: int, alpha0: float, *, damping: bool) -> Array:
    """Return how often intervals hold the truth, ours and plain ones, and the slope of estimates over truths."""
    options = {} if damping else {"damping": False, "alpha0": alpha0}
    search = TopicSearch(n_topics, **options).fit(drawn.counts)
    corpus, topics = FittedCorpus(search), [search.search(words=[drawn.word])]
    shares = corpus.document_shares(topics)
    found = estimate_means(shares, drawn.codes, N_PERIODS, corpus.scale_errors(topics))
    held = (found.low[:, 0] <= drawn.truth) & (drawn.truth <= found.high[:, 0])
    groups = [shares[drawn.codes == code, 0] for code in range(N_PERIODS)]
    means, errors = np.array([(each.mean(), each.std() / np.sqrt(len(each))) for each in groups]).T
    plain = np.abs(means - drawn.truth) <= 1.96 * errors
    return np.array([held.mean(), plain.mean(), np.polyfit(drawn.truth, means, 1)[0]])


def cover_both(number: int, seed: int) -> list[Array]:
    """Return the results of both ways for one corpus; none if the word does not point to the topic."""
    _, n_topics, length, per_period, alpha0 = CORPORA[number]
    drawn = draw_corpus(10_000 * number + seed, n_topics, length, per_period, alpha0)
    return [cover(drawn, n_topics, alpha0, damping=damping) for damping in (True, False)] if drawn.is_pure else []


def run(*, quick: bool = False) -> None:
    """Measure the coverage of the intervals of timelines."""
    rows = []
    for number, (name, *_) in enumerate(CORPORA):
        found = run_seeds(partial(cover_both, number), 8 if quick else 24)
        results = np.array([each for each in found if len(each)])
        local, moments = np.mean(results, axis=0)
        slopes = np.median(results[:, :, 2], axis=0)
        rows.append(
            (
                name,
                f"{len(results)}",
                *(f"{each:.3f}" for each in (local[0], local[1])),
                f"{slopes[0]:.2f}",
                *(f"{each:.3f}" for each in (moments[0], moments[1])),
                f"{slopes[1]:.2f}",
            )
        )
    columns = ("documents", "corpora", "local EM", "plain", "slope", "moments", "plain", "slope")
    print_table(f"Coverage of 95% intervals of a topic's share in {N_PERIODS} periods", columns, rows)
    print_time(5_000 if quick else 40_000)


def print_time(n_documents: int) -> None:
    """Measure the shares of all documents, and their means over periods."""
    data = make_topics(n_documents, 1000, 20, mean_length=80, alpha=0.02, random_state=0)
    corpus = FittedCorpus(TopicSearch(50).fit(data.counts))
    codes = np.arange(n_documents) % 60
    print()
    for name, refine in (("after local EM", None), ("of moments", False)):
        topics = [corpus.search.search(words=[data.labelled_word(i)], refine=refine) for i in range(2)]
        spent = measure(lambda found=topics: estimate_means(corpus.document_shares(found), codes, 60)).seconds
        print(
            verdict(
                f"shares of {n_documents:,} documents {name}, per thousand and topic",
                5e5 * spent / n_documents,
                1,
                " ms",
            )
        )


if __name__ == "__main__":
    run()
