"""Mixtures of linear regressions."""

from mixsearch.regression._search import RegressionSearch

__all__ = ["RegressionSearch"]
