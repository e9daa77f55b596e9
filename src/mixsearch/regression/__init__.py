"""Mixtures of linear regressions."""

from mixsearch.regression._component import RegressionComponent
from mixsearch.regression._family import RegressionFamily
from mixsearch.regression._moments import fit_regression
from mixsearch.regression._search import RegressionSearch

__all__ = ["RegressionComponent", "RegressionFamily", "RegressionSearch", "fit_regression"]
