"""Mixtures of spherical Gaussians."""

from mixsearch.gaussian._component import GaussianComponent
from mixsearch.gaussian._moments import GaussianFamily, fit_gaussian
from mixsearch.gaussian._search import GaussianSearch
from mixsearch.gaussian._whitener import WithinWhitener

__all__ = ["GaussianComponent", "GaussianFamily", "GaussianSearch", "WithinWhitener", "fit_gaussian"]
