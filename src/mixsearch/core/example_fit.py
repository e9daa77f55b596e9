"""Whether examples are members of the component found: all of them of the same one, and typical of it."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from scipy.special import log_softmax, logsumexp
from scipy.stats import norm

from mixsearch._typing import Array
from mixsearch.core.doubts import MIN_P_VALUE, trust
from mixsearch.errors import DoubtfulExamplesWarning

# How often examples are of several components, before they are looked at.
PRIOR_OF_DISAGREEMENT = 0.01
# An example whose component is another one with more than this probability is named in the doubt.
MAX_OTHER = 0.95
MAX_LISTED = 10


class ExampleFit(NamedTuple):
    """What the examples of a search say about the component found."""

    agreement: float  # the probability that all of them are of this component, rather than of others or of several
    posterior: Array  # the probability of each example, taken alone, to be of this component, (q,)
    p_values: Array  # how often a member would be as far from the component as each example, (q,)

    @property
    def p_value(self) -> float:
        """How often the farthest of as many members would be as far as the farthest example."""
        return float(min(1.0, len(self.p_values) * self.p_values.min(initial=1.0)))

    @property
    def confidence(self) -> float:
        """What the examples leave of the confidence of an answer."""
        return self.agreement * trust(self.p_value)

    def doubts(self) -> list[DoubtfulExamplesWarning]:
        """Return the doubts that examples belong to another component, or to none."""
        n = len(self.posterior)
        strange = np.flatnonzero(n * self.p_values < MIN_P_VALUE)
        # Where components overlap, a few members always look like another one: that is no doubt about all of them.
        seems_other = (self.posterior < 1 - MAX_OTHER) & (self.agreement < 0.5)
        other = np.setdiff1d(np.flatnonzero(seems_other), strange)
        doubts = []
        if len(strange):
            doubts.append(_doubt(strange, n, "like no member of the component found", "examples_atypical"))
        if len(other):
            doubts.append(_doubt(other, n, "like another component", "examples_disagree"))
        if not doubts and n > 1 and self.agreement < 0.5:
            doubts.append(
                DoubtfulExamplesWarning(
                    "The {n_examples} examples do not look like members of one component: the probability that all "
                    "are of the one found is {agreement:.2f}. Look at `alternatives`, or give fewer examples that "
                    "surely belong together.",
                    code="examples_disagree",
                    n_examples=n,
                    agreement=self.agreement,
                )
            )
        return doubts


def _doubt(rows: Array, n_examples: int, like: str, code: str) -> DoubtfulExamplesWarning:
    if n_examples == 1:
        sentence = f"The example looks {like}."
    else:
        verb = "looks" if len(rows) == 1 else "look"
        sentence = f"{list_examples(rows.tolist())} of {{n_examples}} {verb} {like}."
    return DoubtfulExamplesWarning(
        sentence + " Leave out those that may be wrong, or look at `alternatives`.",
        code=code,
        rows=rows[:MAX_LISTED].tolist(),
        n_examples=n_examples,
    )


def list_examples(rows: Sequence[int]) -> str:
    """Return the numbers of examples, from 0 as in their array, as the beginning of a sentence.

    Examples
    --------
    >>> list_examples([2])
    'Example 2'
    >>> list_examples([1, 2, 5])
    'Examples 1, 2 and 5'
    """
    if len(rows) == 1:
        return f"Example {rows[0]}"
    names = [str(row) for row in rows[:MAX_LISTED]]
    if len(rows) > MAX_LISTED:
        return f"Examples {', '.join(names)} and {len(rows) - MAX_LISTED} more"
    return f"Examples {', '.join(names[:-1])} and {names[-1]}"


def posterior_of_all(logs: Array, log_weights: Array) -> Array:
    """Return the probability of each component that all examples are its own, (k,).

    Parameters
    ----------
    logs : array of shape (q, k)
        log αᵢpᵢ(x) of each example and component.
    log_weights : array of shape (k,)
        log αᵢ.

    Returns
    -------
    array of shape (k,)
        They sum to less than 1 if the examples may be of several components.

    Notes
    -----
    Examples of one component have the density Σ αᵢ Π pᵢ(x). Examples drawn from the mixture have Π Σ αᵢpᵢ(x), of which
    Σ αᵢ^q Π pᵢ(x) is that of draws that happen to agree. Before they are looked at, examples disagree with probability
    `PRIOR_OF_DISAGREEMENT`.
    """
    n = len(logs)
    together = logs.sum(axis=0) - (n - 1) * log_weights
    drawn, agreeing = logsumexp(logs, axis=1).sum(), logsumexp(logs.sum(axis=0))
    # The share of the draws that disagree: rounding of two equal numbers is none.
    disagreeing = -np.expm1(min(agreeing - drawn, 0.0))
    if disagreeing < 1e-9:
        return np.asarray(np.exp(log_softmax(together)))
    several = drawn + np.log(disagreeing * PRIOR_OF_DISAGREEMENT / (1 - PRIOR_OF_DISAGREEMENT))
    return np.asarray(np.exp(log_softmax(np.append(together, several))[:-1]))


def typical_p_values(squares: Array, of_members: Array, weights: Array) -> Array:
    """Return how often a member would be as far from the component as each example, (q,).

    Parameters
    ----------
    squares : array of shape (q,)
        Squared distance of each example.
    of_members : array of shape (n,)
        Squared distances of samples.
    weights : array of shape (n,)
        Their probabilities to be members.

    Returns
    -------
    array of shape (q,)

    Notes
    -----
    Cube roots of squared distances of normal samples are nearly normal (Wilson and Hilferty). Their center and their
    upper quartile are those of the members themselves, so that clusters of another shape are no cause for doubt.
    """
    roots = np.cbrt(of_members)
    order = np.argsort(roots)
    shares = np.cumsum(weights[order])
    if not shares[-1] > 1:  # nothing to compare with
        return np.ones(len(squares))
    low, middle, high = np.interp([0.1, 0.5, 0.9], shares / shares[-1], roots[order])
    spread = max(high - middle, middle - low) / NormalDist().inv_cdf(0.9)
    return np.asarray(norm.sf((np.cbrt(squares) - middle) / max(spread, 1e-3 * middle, np.finfo(float).tiny)))
