"""Synthetic mixtures and images with known truth, and a text corpus that every installation already has."""

from typing import TYPE_CHECKING

from mixsearch._front import lazy_front

if TYPE_CHECKING:
    from mixsearch.datasets._communities import CommunityData, make_communities
    from mixsearch.datasets._docstrings import DEFAULT_PACKAGES, DocstringCorpus, WorkerDiedError, load_docstrings
    from mixsearch.datasets._landscape import LandscapeData, make_landscape
    from mixsearch.datasets._mixtures import (
        GaussianMixtureData,
        MixedRegressionData,
        SubspacesData,
        make_gaussian_mixture,
        make_hint,
        make_mixed_regression,
        make_subspaces,
    )
    from mixsearch.datasets._reviews import ReviewData, make_reviews
    from mixsearch.datasets._topics import TopicData, make_topics
else:
    __getattr__, __dir__ = lazy_front(__name__)

__all__ = [
    "DEFAULT_PACKAGES",
    "CommunityData",
    "DocstringCorpus",
    "GaussianMixtureData",
    "LandscapeData",
    "MixedRegressionData",
    "ReviewData",
    "SubspacesData",
    "TopicData",
    "WorkerDiedError",
    "load_docstrings",
    "make_communities",
    "make_gaussian_mixture",
    "make_hint",
    "make_landscape",
    "make_mixed_regression",
    "make_reviews",
    "make_subspaces",
    "make_topics",
]
