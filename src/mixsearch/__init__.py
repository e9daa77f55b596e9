"""Find one component of a mixture from a small hint, with moments and one eigenvector."""

from mixsearch.errors import SearchError, WeakHintWarning
from mixsearch.estimators import GaussianSearch, RegressionSearch, SubspaceSearch, TopicSearch, WithinWhitener
from mixsearch.extraction import search_moments
from mixsearch.segmentation import segment
from mixsearch.types import Moments

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
