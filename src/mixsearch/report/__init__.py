"""Reports on the topics of an index: one HTML file that opens offline."""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
