"""Find one component of a mixture from a small hint, with moments and one eigenvector."""

from mixsearch.core.generic import search_moments
from mixsearch.core.moments import Moments
from mixsearch.errors import SearchError, WeakHintWarning
from mixsearch.gaussian import GaussianSearch, WithinWhitener
from mixsearch.regression import RegressionSearch
from mixsearch.segmentation import segment
from mixsearch.subspace import SubspaceSearch
from mixsearch.topics import TopicSearch

__version__ = "0.6.0"

__all__ = [
    "GaussianSearch",
    "Moments",
    "RegressionSearch",
    "SearchError",
    "SubspaceSearch",
    "TopicSearch",
    "WeakHintWarning",
    "WithinWhitener",
    "search_moments",
    "segment",
]
