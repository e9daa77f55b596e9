"""The page and its HTTP API: search topics while typing, segment images by clicking."""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
