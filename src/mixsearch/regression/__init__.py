"""Mixtures of linear regressions."""

from typing import TYPE_CHECKING

from mixsearch._front import lazy_front

if TYPE_CHECKING:
    from mixsearch.regression._component import RegressionComponent
    from mixsearch.regression._family import RegressionFamily
    from mixsearch.regression._moments import fit_regression
    from mixsearch.regression._search import RegressionSearch
else:
    __getattr__, __dir__ = lazy_front(__name__)

__all__ = ["RegressionComponent", "RegressionFamily", "RegressionSearch", "fit_regression"]
