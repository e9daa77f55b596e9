from .communities import make_communities
from .docstrings import load_docstrings
from .landscape import make_landscape
from .mixtures import make_gaussian_mixture, make_hint, make_mixed_regression, make_subspaces
from .reviews import make_reviews
from .topics import make_topics

__all__ = [
    "load_docstrings",
    "make_communities",
    "make_gaussian_mixture",
    "make_hint",
    "make_landscape",
    "make_mixed_regression",
    "make_reviews",
    "make_subspaces",
    "make_topics",
]
