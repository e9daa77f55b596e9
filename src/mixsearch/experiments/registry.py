"""All experiments, by name."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

from mixsearch.errors import SearchError
from mixsearch.experiments import gaussians, lda, regressions, segmentation, subspaces, topics_text
from mixsearch.experiments.experiment import Experiment

# In the order of the paper.
EXPERIMENTS: tuple[Experiment, ...] = (
    gaussians.ERRORS,
    gaussians.RARE,
    gaussians.SPEED,
    lda.ERRORS,
    subspaces.ERRORS,
    subspaces.SPEED,
    topics_text.CONTEST,
    segmentation.SEGMENTS,
    gaussians.SENSITIVITY,
    regressions.ERRORS,
)


def find_experiments(names: Sequence[str]) -> list[Experiment]:
    """The experiments of these names, in the paper's order; "all" for every one."""
    known = {experiment.name: experiment for experiment in EXPERIMENTS}
    for name in names:
        if name != "all" and name not in known:
            near = get_close_matches(name, known, n=1) or list(known)
            raise SearchError(f"There is no experiment {name!r}. Nearest: {', '.join(near)}. `all` runs every one.")
    return [experiment for experiment in EXPERIMENTS if "all" in names or experiment.name in names]
