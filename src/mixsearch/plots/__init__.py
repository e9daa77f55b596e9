"""Draw answers with matplotlib: topics, also over time, Gaussians, regressions, members of a table, spectra."""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
