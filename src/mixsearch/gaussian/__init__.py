"""Mixtures of spherical Gaussians."""

from mixsearch.gaussian._component import GaussianComponent
from mixsearch.gaussian._search import GaussianSearch
from mixsearch.gaussian._whitener import WithinWhitener

__all__ = ["GaussianComponent", "GaussianSearch", "WithinWhitener"]
