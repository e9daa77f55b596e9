"""Mixtures and a landscape drawn at random with their truth, and a corpus that every installation already has."""

from mixsearch.datasets.docstrings import DocstringCorpus, load_docstrings
from mixsearch.datasets.pictures import LandscapeData, make_landscape
from mixsearch.datasets.synthetic import (
    GaussianMixtureData,
    MixedRegressionData,
    SubspacesData,
    TopicData,
    make_gaussian_mixture,
    make_hint,
    make_mixed_regression,
    make_subspaces,
    make_topics,
)

__all__ = [
    "DocstringCorpus",
    "GaussianMixtureData",
    "LandscapeData",
    "MixedRegressionData",
    "SubspacesData",
    "TopicData",
    "load_docstrings",
    "make_gaussian_mixture",
    "make_hint",
    "make_landscape",
    "make_mixed_regression",
    "make_subspaces",
    "make_topics",
]
