"""Draw answers with matplotlib: topics, also over time, Gaussians, regressions, members of a table, spectra."""

try:
    # Figures made without pyplot touch no global state and need no screen.
    import matplotlib.axes
    import matplotlib.figure  # noqa: F401
except ModuleNotFoundError as error:
    raise ImportError(
        "Plots need matplotlib. Install it with: pip install 'mixsearch[cli]'", name="matplotlib"
    ) from error

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
