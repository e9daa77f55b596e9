"""Segments of images from a few seed pixels: superpixels -> affinity -> PageRank from the seeds -> labels."""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
