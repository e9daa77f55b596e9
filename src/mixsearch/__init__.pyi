from .audit import Audit
from .community import Community, CommunitySearch
from .core.check import Check
from .core.component import Component
from .core.family import search_family
from .core.jackknife import StandardErrors
from .core.spectrum import Spectrum
from .errors import SearchError, SearchWarning, WeakHintWarning
from .gaussian import GaussianComponent, GaussianSearch
from .image.result import Segmentation
from .image.segment import segment
from .lda import LdaSearch, LdaTopic
from .regression import RegressionComponent, RegressionSearch
from .subspace import Subspace, SubspaceErrors, SubspaceSearch
from .table.component import TableComponent
from .table.search import TableSearch, find
from .topics.topic import Topic
from .topics.topic_search import TopicSearch

__version__: str

__all__ = [
    "Audit",
    "Check",
    "Community",
    "CommunitySearch",
    "Component",
    "GaussianComponent",
    "GaussianSearch",
    "LdaSearch",
    "LdaTopic",
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
    "segment",
]
