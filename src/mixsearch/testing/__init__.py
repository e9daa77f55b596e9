"""Checks: of a new family against the contract of `mixsearch.core.family`, and of an installation."""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
