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
    feedback: float = 3.0  # documents that the best ones of a first pass count as in the hint
    n_feedback: int = 100  # best documents of the first pass
    min_feedback: float = 0.05  # part of the hint below which there is no second pass
    avoid: float = 0.5  # weight of words and documents to avoid
    max_hint_documents: int = 5_000  # of more, as many at even steps stand for all
    # Membership and its check
    n_folds: int = 5  # of hint documents
    max_judged: int = 500  # hint documents that are left out in turn


TUNING = Tuning()
