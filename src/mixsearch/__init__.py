"""Find one component of a mixture from a small hint, with moments and one eigenvector."""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)

__version__ = "1.0.0"
