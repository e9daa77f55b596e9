"""Building an index: from files to counts on disk, and the fit."""

from typing import TYPE_CHECKING

from mixsearch._front import lazy_front

if TYPE_CHECKING:
    from mixsearch.index.build.local import build_index
    from mixsearch.index.build.options import DEFAULT_COMPONENTS, IndexOptions, OnProgress
    from mixsearch.index.build.summary import Built
else:
    __getattr__, __dir__ = lazy_front(__name__)

__all__ = ["DEFAULT_COMPONENTS", "Built", "IndexOptions", "OnProgress", "build_index"]
