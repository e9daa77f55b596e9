"""Samples -> frame, and (frame, hint) -> hinted moments: one file per family. Knows nothing of extraction."""

from mixsearch.models.gaussian import GaussianModel, fit_gaussian
from mixsearch.models.regression import RegressionModel, fit_regression
from mixsearch.models.subspace import SubspaceModel, fit_subspace
from mixsearch.models.topics import TopicModel, fit_topics

__all__ = [
    "GaussianModel",
    "RegressionModel",
    "SubspaceModel",
    "TopicModel",
    "fit_gaussian",
    "fit_regression",
    "fit_subspace",
    "fit_topics",
]
