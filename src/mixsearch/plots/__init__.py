"""Draw answers with matplotlib: topics, also over time, Gaussians, regressions, members of a table, spectra."""

try:
    # Figures made without pyplot touch no global state and need no screen.
    import matplotlib.axes
    import matplotlib.figure  # noqa: F401
except ModuleNotFoundError as error:
    raise ImportError(
        "Plots need matplotlib. Install it with: pip install 'mixsearch[cli]'", name="matplotlib"
    ) from error

from mixsearch.plots._component import plot_component, plot_regression
from mixsearch.plots._groups import plot_groups
from mixsearch.plots._members import plot_members
from mixsearch.plots._spectrum import plot_spectrum
from mixsearch.plots._style import FOUND_COLOR, HINT_COLOR, MUTED_COLOR, OTHER_COLOR, TEXT_COLOR, save_figure
from mixsearch.plots._topics import plot_topic, plot_topics

__all__ = [
    "FOUND_COLOR",
    "HINT_COLOR",
    "MUTED_COLOR",
    "OTHER_COLOR",
    "TEXT_COLOR",
    "plot_component",
    "plot_groups",
    "plot_members",
    "plot_regression",
    "plot_spectrum",
    "plot_topic",
    "plot_topics",
    "save_figure",
]
