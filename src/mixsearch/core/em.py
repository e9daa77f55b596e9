"""Expectation maximization: iterate to a maximum of the likelihood, with a tolerance and a limit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from mixsearch.errors import NotRefinedWarning, SearchError, warn_user

# Far more than a good start needs.
MAX_ITER = 100


State = TypeVar("State")


class EMOptions(NamedTuple):
    """A bound on the steps, and the gain in nats, over all samples together, below which they stop."""

    most: int
    tol: float


def em_options(refine: Any, tol: Any) -> EMOptions | None:
    """What `search` was asked for: no steps, as many as it takes, or so many at most."""
    if not (isinstance(tol, Real) and float(tol) >= 0):
        raise SearchError(f"tol must be a number of nats from 0; found {tol!r}.")
    if isinstance(refine, bool | np.bool_):
        return EMOptions(MAX_ITER, float(tol)) if refine else None
    if not isinstance(refine, Integral) or refine < 0:
        raise SearchError(f"refine must be True, False or a number of steps from 0; found {refine!r}.")
    return EMOptions(int(refine), float(tol)) if refine else None


def warn_not_refined() -> None:
    """Say that the answer is the moment estimate after all."""
    warn_user(
        NotRefinedWarning(
            "The likelihood steps led away from the component that the hint means, so that the moment estimate "
            "stands. Its "
            "samples may not be told apart from another component's: look at separation and confidence."
        )
    )


@dataclass(frozen=True, slots=True)
class EMResult(Generic[State]):
    """Where the steps led."""

    state: State
    objectives: tuple[float, ...]  # the log-likelihood of the start and after each step that was kept

    @property
    def n_steps(self) -> int:
        """Steps that were kept."""
        return len(self.objectives) - 1


def run_em(start: State, step: Callable[[State], tuple[State, float]], steps: EMOptions) -> EMResult[State]:
    """Step by step uphill, until a step gains less than the tolerance.

    Parameters
    ----------
    start : State
    step : callable
        From a state to the next one and the objective of the state that it was given: a step of expectation
        maximisation knows the likelihood only of where it comes from.
    steps : Steps

    Notes
    -----
    The objective of the last state costs one more step, whose own move is thrown away. A step that lowers the objective
    is undone, and the last one.
    """
    state, (following, objective) = start, step(start)
    objectives = [objective]
    while len(objectives) <= steps.most:
        beyond, objective = step(following)
        if not objective >= objectives[-1]:
            break
        state, following = following, beyond
        objectives.append(objective)
        if objective - objectives[-2] < steps.tol:
            break
    return EMResult(state, tuple(objectives))
