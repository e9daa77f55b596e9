"""The faces of the four searches: scikit-learn estimators that combine a model with an extraction."""

from mixsearch.estimators.found_subspace import Subspace
from mixsearch.estimators.gaussian import GaussianComponent, GaussianSearch
from mixsearch.estimators.regression import RegressionSearch
from mixsearch.estimators.regression_component import RegressionComponent
from mixsearch.estimators.subspace import SubspaceSearch
from mixsearch.estimators.topic import Topic
from mixsearch.estimators.topics import TopicSearch
from mixsearch.estimators.within import WithinWhitener

__all__ = [
    "GaussianComponent",
    "GaussianSearch",
    "RegressionComponent",
    "RegressionSearch",
    "Subspace",
    "SubspaceSearch",
    "Topic",
    "TopicSearch",
    "WithinWhitener",
]
