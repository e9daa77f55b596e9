"""Expectation maximization: iterate to a maximum of the likelihood, with a tolerance and a limit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from mixsearch.core.validation import check_positive_int
from mixsearch.errors import ArgumentError, NotRefinedWarning, Option

# Far more than a good start needs.
MAX_ITER = 100

State = TypeVar("State")


class EMOptions(NamedTuple):
    """When to stop."""

    max_iter: int
    tol: float  # stop once an iteration gains less than this in the log-likelihood of all samples together, in nats


def em_options(
    refine: Any, tol: Any, max_iter: Any, *, default_max_iter: int = MAX_ITER, needs_refinement: bool | None = None
) -> EMOptions | None:
    """Check the options of a search: None without refinement."""
    if refine is None and needs_refinement is not None:
        refine = needs_refinement
    if not isinstance(refine, bool | np.bool_):
        raise ArgumentError(
            "{argument} must be True or False, got {value!r}. Limit the iterations with {limit}.",
            argument=Option("refine"),
            value=refine,
            limit=Option("max_iter"),
        )
    if not (isinstance(tol, Real) and float(tol) >= 0):
        raise ArgumentError(
            "{argument} must be a non-negative number of nats, got {value!r}.", argument=Option("tol"), value=tol
        )
    if max_iter is not None:
        check_positive_int("max_iter", max_iter)
    return EMOptions(default_max_iter if max_iter is None else int(max_iter), float(tol)) if refine else None


def not_refined() -> NotRefinedWarning:
    """Return the doubt that the answer is the moment estimate although refinement was requested."""
    return NotRefinedWarning(
        "EM leaves the component of the hint too few samples, so the moment estimate is returned. The component may "
        "overlap with another one, or be noise."
    )


@dataclass(frozen=True, slots=True)
class EMResult(Generic[State]):
    """The state in which EM stopped."""

    state: State
    objectives: tuple[float, ...]  # the log-likelihood at the start and after each accepted iteration

    @property
    def n_iter(self) -> int:
        """The number of accepted iterations."""
        return len(self.objectives) - 1


def run_em(start: State, step: Callable[[State], tuple[State, float]], options: EMOptions) -> EMResult[State]:
    """Iterate until the objective gains less than the tolerance.

    Notes
    -----
    The objective of the last state costs one more iteration, whose own update is discarded. An iteration that lowers
    the objective is undone, and is the last one.
    """
    state, (following, objective) = start, step(start)
    objectives = [objective]
    while len(objectives) <= options.max_iter:
        beyond, objective = step(following)
        if not objective >= objectives[-1]:
            break
        state, following = following, beyond
        objectives.append(objective)
        if objective - objectives[-2] < options.tol:
            break
    return EMResult(state, tuple(objectives))
