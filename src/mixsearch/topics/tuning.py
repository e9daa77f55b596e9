"""The numbers that decide the quality of topics."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Tuning:
    """Chosen on the corpora of benchmarks/quality.py, whose --vary reports a number on corpora it was not chosen on."""

    # The frame and its anchors
    n_components: int = 100  # eigenvectors of the second moment; 200 gain .001
    n_broad: int = 30  # of them, for broad likeness; without these, three documents lose .010
    power: float = 0.25  # of eigenvalues, by which broad coordinates are scaled
    n_anchors: int = 1_000  # documents that stand for the neighbourhood of all
    n_nearest: int = 20  # anchors of each document; 10 lose .001
    stay: float = 0.9  # probability that a walk among anchors goes on
    # The score
    few: int = 10  # hint documents up to which there is a second pass and ranks are told; folds of more
    n_second: int = 100  # best documents that join them there
    copies: float = 0.25  # by which the score of the second near-copy is lower, of the fourth twice, and so on
    avoid: float = 0.5  # weight of documents to avoid
    max_documents: int = 2_000  # of a hint, of a meaning or of the corpus; of more, as many at even steps stand for all
    # Membership and its check
    max_judged: int = 300  # hint documents that are left out in turn
    min_judged: int = 3  # with fewer, membership is a rank
    min_fraction: float = 0.25  # of left-out documents, above which their number is worth a ratio
    sharpness: float = 2.0  # power of the odds of membership; larger for clearer shares over time, fewer members
    weak: float = 0.8  # probability that a left-out document precedes another, below which the answer is not trusted
    strong: float = 0.92  # and from which the match of documents is strong
    strong_recall: float = 0.55  # of words: left-out documents among the best, twice as many as have them; 0 by chance
    told_recall: float = 0.75  # fraction of left-out documents that the check tells about
    # Words and meanings
    n_best: int = 30  # documents that words are taken from at least, without words in the hint
    min_lift: float = 2.0  # how many times as often a word must occur in members as elsewhere
    n_meanings: int = 4  # clusters of hint documents at most
    min_meaning: float = 0.05  # fraction of hint documents that a meaning has at least
    same_topic: float = 0.5  # cosine above which clusters of hint documents, or words to start with, are one topic


TUNING = Tuning()
