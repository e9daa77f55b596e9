"""Segmentation of images from a few seed pixels: pixels -> features -> one search per seed."""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
