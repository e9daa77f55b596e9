"""The numbers that decide the quality of topics."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Tuning:
    """Chosen on the corpora of benchmarks/quality.py, leaving out one of them in turn."""

    # The frame and its anchors
    n_components: int = 100  # eigenvectors of the second moment; 50 to 200 differ by less than .005
    n_anchors: int = 1_000  # documents that scores are smoothed over
    n_nearest: int = 10  # anchors of each document
    # The score
    smoothing: float = 0.5  # weight of the smoothed score; larger for broader topics
    step: float = 2.0  # factor of the smoothing for each step of `narrower` and `broader`
    shrinkage: float = 10.0  # hint documents at which contrasts of words count half
    copies: float = 0.25  # by which the score of the second near-copy is lower, of the fourth twice, and so on
    avoid: float = 0.5  # weight of words and documents to avoid
    max_hint_documents: int = 5_000  # of more, as many at even steps stand for all
    # Membership and its check
    n_folds: int = 5  # of hint documents; each of a few is a fold of its own
    max_listed: int = 10  # documents that count as a few
    max_judged: int = 500  # hint documents that are left out in turn
    min_judged: int = 3  # with fewer, membership is a rank
    min_fraction: float = 0.25  # of left-out documents, above which their number is worth a ratio
    n_sampled: int = 2_000  # documents that stand for the corpus where left-out documents are scored
    strong: float = 0.93  # probability that a left-out document precedes another, from which a match is strong
    weak: float = 0.8  # and below which it is a reason not to trust the answer
    told_recall: float = 0.75  # fraction of left-out documents that the check tells about
    # Words and meanings
    n_best: int = 30  # documents that words are taken from at least, without words in the hint
    min_lift: float = 2.0  # how many times as often a word must occur in members as elsewhere
    n_meanings: int = 4  # clusters of hint documents at most
    min_meaning: float = 0.05  # fraction of hint documents that a meaning has at least
    same_meaning: float = 0.5  # cosine of cluster centers above which clusters are one meaning
    max_clustered: int = 2_000  # hint documents that are clustered


TUNING = Tuning()
