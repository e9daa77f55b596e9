"""Hinted moments -> component: Algorithms 1, 2 and 3 of the paper. Knows nothing of any model."""

from mixsearch.extraction.cancellation import CancellationRule, extract_by_cancellation
from mixsearch.extraction.generic import Extraction, ExtractionOptions, extract, search_moments, warn_if_weak
from mixsearch.extraction.subspace import SubspaceCandidate, extract_subspace
from mixsearch.extraction.whitening import extract_by_whitening

__all__ = [
    "CancellationRule",
    "Extraction",
    "ExtractionOptions",
    "SubspaceCandidate",
    "extract",
    "extract_by_cancellation",
    "extract_by_whitening",
    "extract_subspace",
    "search_moments",
    "warn_if_weak",
]
