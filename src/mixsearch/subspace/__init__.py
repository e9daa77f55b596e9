"""Mixtures of subspaces."""

from typing import TYPE_CHECKING

from mixsearch._front import lazy_front

if TYPE_CHECKING:
    from mixsearch.subspace._component import Subspace
    from mixsearch.subspace._family import SubspaceFamily, fit_subspace
    from mixsearch.subspace._jackknife import SubspaceErrors
    from mixsearch.subspace._search import SubspaceSearch
else:
    __getattr__, __dir__ = lazy_front(__name__)

__all__ = ["Subspace", "SubspaceErrors", "SubspaceFamily", "SubspaceSearch", "fit_subspace"]
