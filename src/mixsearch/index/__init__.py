"""The topic index: a corpus on disk that is built from files, opens at once, and answers in milliseconds."""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
