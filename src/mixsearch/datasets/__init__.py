"""Synthetic mixtures and images with known truth, and a text corpus that every installation already has."""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
