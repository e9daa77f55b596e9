"""Find one component of a mixture from a small hint, with moments and one eigenvector."""

from typing import TYPE_CHECKING

from mixsearch._front import lazy_front

if TYPE_CHECKING:
    from mixsearch.community import Community, CommunitySearch
    from mixsearch.core.component import Component
    from mixsearch.core.generic import search_family, search_moments
    from mixsearch.core.jackknife import StandardErrors
    from mixsearch.core.moments import Moments
    from mixsearch.core.rank_selection import Spectrum
    from mixsearch.errors import SearchError, SearchWarning, WeakHintWarning
    from mixsearch.gaussian import GaussianComponent, GaussianSearch
    from mixsearch.regression import RegressionComponent, RegressionSearch
    from mixsearch.segmentation import Segmentation, segment
    from mixsearch.subspace import Subspace, SubspaceErrors, SubspaceSearch
    from mixsearch.table import TableComponent, TableSearch, find
    from mixsearch.topics import Topic, TopicSearch
else:
    __getattr__, __dir__ = lazy_front(__name__)

__version__ = "1.0.0rc1"

__all__ = [
    "Community",
    "CommunitySearch",
    "Component",
    "GaussianComponent",
    "GaussianSearch",
    "Moments",
    "RegressionComponent",
    "RegressionSearch",
    "SearchError",
    "SearchWarning",
    "Segmentation",
    "Spectrum",
    "StandardErrors",
    "Subspace",
    "SubspaceErrors",
    "SubspaceSearch",
    "TableComponent",
    "TableSearch",
    "Topic",
    "TopicSearch",
    "WeakHintWarning",
    "find",
    "search_family",
    "search_moments",
    "segment",
]
