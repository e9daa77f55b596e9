from .component import plot_component, plot_regression
from .groups import plot_groups
from .members import plot_members
from .spectrum import plot_spectrum
from .style import save_figure
from .topics import plot_topic, plot_topics

__all__ = [
    "plot_component",
    "plot_groups",
    "plot_members",
    "plot_regression",
    "plot_spectrum",
    "plot_topic",
    "plot_topics",
    "save_figure",
]
