"""All experiments by name."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

from mixsearch.errors import SearchError
from mixsearch.experiments import (
    _gaussians,
    _hints,
    _labels,
    _lda,
    _parallel,
    _regressions,
    _rehint,
    _segmentation,
    _solvers,
    _subspaces,
    _theory,
    _topics_text,
)
from mixsearch.experiments._experiment import Experiment

# In the order of the paper.
EXPERIMENTS: tuple[Experiment, ...] = (
    _gaussians.ERRORS,
    _gaussians.RARE,
    _gaussians.SPEED,
    _lda.ERRORS,
    _subspaces.ERRORS,
    _subspaces.SPEED,
    _topics_text.COMPARISON,
    _segmentation.SEGMENTS,
    _gaussians.SENSITIVITY,
    _regressions.ERRORS,
    _labels.LABELS,
    _rehint.REHINT,
    _theory.THEORY,
    _hints.HINTS_EXPERIMENT,
    _parallel.PARALLEL,
    _solvers.SOLVERS,
)


def find_experiments(names: Sequence[str]) -> list[Experiment]:
    """Find experiments by name.

    Parameters
    ----------
    names : sequence of str
        Names of experiments, or "all".

    Returns
    -------
    list of Experiment
        In the order of the paper.
    """
    known = {experiment.name: experiment for experiment in EXPERIMENTS}
    for name in names:
        if name != "all" and name not in known:
            near = get_close_matches(name, known, n=1) or list(known)
            raise SearchError(
                "There is no experiment {name!r}. Nearest: {nearest}. Use all for every experiment.",
                code="unknown_experiment",
                name=name,
                nearest=", ".join(near),
            )
    return [experiment for experiment in EXPERIMENTS if "all" in names or experiment.name in names]
