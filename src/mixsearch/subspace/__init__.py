"""Mixtures of subspaces."""

from mixsearch.subspace._search import SubspaceSearch

__all__ = ["SubspaceSearch"]
