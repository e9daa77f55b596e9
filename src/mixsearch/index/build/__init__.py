"""Building an index: from files to counts on disk, and the fit."""

from mixsearch.index.build.local import build_index
from mixsearch.index.build.options import DEFAULT_COMPONENTS, IndexOptions, OnProgress
from mixsearch.index.build.summary import Built

__all__ = ["DEFAULT_COMPONENTS", "Built", "IndexOptions", "OnProgress", "build_index"]
