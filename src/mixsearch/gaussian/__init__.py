"""Mixtures of Gaussians: spherical ones from moments, and those of any shape that grow from one."""

from typing import TYPE_CHECKING

from mixsearch._front import lazy_front

if TYPE_CHECKING:
    from mixsearch.gaussian._component import GaussianComponent
    from mixsearch.gaussian._family import GaussianFamily
    from mixsearch.gaussian._fit import fit_gaussian
    from mixsearch.gaussian._search import GaussianSearch
    from mixsearch.gaussian._shapes import SHAPES, Shape, ShapedMixture, choose_mixture
else:
    __getattr__, __dir__ = lazy_front(__name__)

__all__ = [
    "SHAPES",
    "GaussianComponent",
    "GaussianFamily",
    "GaussianSearch",
    "Shape",
    "ShapedMixture",
    "choose_mixture",
    "fit_gaussian",
]
