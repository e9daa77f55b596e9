"""Whether examples are members of the component found: all of them of the same one, and typical of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.special import betaincc

from mixsearch._typing import Array
from mixsearch.core.warnings import MIN_P_VALUE, trust
from mixsearch.display import pluralize
from mixsearch.errors import DoubtfulExamplesWarning

# How often examples are of several components, before they are looked at.
PRIOR_OF_DISAGREEMENT = 0.01
# A smaller share of draws that disagree is rounding.
TINY_SHARE = 1e-9
# Examples that are less likely than this to be all of the component found are doubted, and so is a single one of them
# that is hardly likely to be.
MIN_AGREEMENT, MAX_POSTERIOR = 0.6, 0.05
MAX_LISTED = 10
# Parameters of the Beta distribution of the share of a class that one component holds, and the confidence that examples
# alone can give. Both were chosen on labelled tables; `benchmarks/table_confidence.py` also leaves out one at a time.
PRIOR_SHARE, MAX_WITHOUT_MODEL = (0.5, 1.5), 0.85


class ExampleNames(NamedTuple):
    """What examples are called."""

    kind: str  # such as "node"
    names: Sequence[str]  # (q,)


class ExampleFit(NamedTuple):
    """The agreement of a component with the examples of its search."""

    agreement: float  # the probability that all of them are of this component, rather than of others or of several
    posterior: Array  # the probability of each example, taken alone, to be of this component, (q,)
    p_values: Array  # how often a member would be as far from the component as each example, (q,)
    best_p_values: Array  # the largest of these over all components, (q,)

    @property
    def p_value(self) -> float:
        """The probability that the farthest of as many members is at least as far as the farthest example."""
        return float(min(1.0, len(self.p_values) * self.p_values.min(initial=1.0)))

    @property
    def confidence(self) -> float:
        """The factor of the confidence that comes from the examples."""
        return self.agreement * trust(self.p_value)

    def warnings(self, names: ExampleNames | None = None) -> list[DoubtfulExamplesWarning]:
        """Return the warnings that examples belong to another component, or to none."""
        n = len(self.posterior)
        strange = np.flatnonzero(n * self.best_p_values < MIN_P_VALUE)
        other = np.setdiff1d(np.flatnonzero(n * self.posterior < MAX_POSTERIOR), strange)
        warnings = []
        if len(strange):
            warnings.append(_warning(strange, n, "like no member of any component", "examples_atypical", names))
        if len(other):
            warnings.append(examples_disagree(other, n, names))
        if not warnings and self.agreement < MIN_AGREEMENT:
            warnings.append(_several(n))
        return warnings


def examples_disagree(rows: Array, n_examples: int, names: ExampleNames | None = None) -> DoubtfulExamplesWarning:
    """Return the warning that some examples, by their numbers, are of another component than the rest."""
    return _warning(rows, n_examples, "like another component", "examples_disagree", names)


def _warning(rows: Array, n_examples: int, like: str, code: str, names: ExampleNames | None) -> DoubtfulExamplesWarning:
    verb = "looks" if len(rows) == 1 else "look"
    named = None if names is None else [names.names[row] for row in rows]
    if n_examples == 1:
        sentence = f"The example looks {like}."
    elif names is not None:
        kind = names.kind if len(rows) == 1 else f"{names.kind}s"
        sentence = f"Of the {{n_examples}} examples, {kind} {{listed}} {verb} {like}."
    else:
        sentence = f"{list_examples(rows.tolist())} of {{n_examples}} (counted from 0) {verb} {like}."
    facts: dict[str, Any] = {} if named is None else {"names": named[:MAX_LISTED], "listed": _join(named)}
    return DoubtfulExamplesWarning(
        sentence + (" Leave out those that may be wrong." if n_examples > 1 else " Give others."),
        code=code,
        rows=rows[:MAX_LISTED].tolist(),
        n_examples=n_examples,
        **facts,
    )


def _several(n_examples: int) -> DoubtfulExamplesWarning:
    return DoubtfulExamplesWarning(
        "The {n_examples} examples do not look like members of one component. Give fewer examples that surely belong "
        "together."
        if n_examples > 1
        else "The example may as well be of another component. Give more examples.",
        code="examples_disagree",
        n_examples=n_examples,
    )


def list_examples(rows: Sequence[int]) -> str:
    """Return the numbers of examples, from 0 as in their array, as the beginning of a sentence."""
    return f"{pluralize(len(rows), 'Example')} {_join([str(row) for row in rows])}"


def _join(names: Sequence[str]) -> str:
    """Return names in one phrase, the first ones only if they are many."""
    if len(names) == 1:
        return names[0]
    if len(names) > MAX_LISTED:
        return f"{', '.join(names[:MAX_LISTED])} and {len(names) - MAX_LISTED} more"
    return f"{', '.join(names[:-1])} and {names[-1]}"


def posterior_of_all(logs: Array, log_weights: Array) -> Array:
    """Return the probability of each component that all examples are its own, (k,).

    Notes
    -----
    Examples of one component have the density Σ αᵢ Π pᵢ(x). Examples drawn from the mixture have Π Σ αᵢpᵢ(x), of which
    Σ αᵢ^q Π pᵢ(x) is that of draws that happen to agree. Before they are looked at, examples disagree with probability
    `PRIOR_OF_DISAGREEMENT`.
    """
    n, total = len(logs), logs.sum(axis=0)
    together = total - (n - 1) * log_weights
    drawn, agreeing = np.sum(np.logaddexp.reduce(logs, axis=1)), np.logaddexp.reduce(total)
    disagreeing = -np.expm1(min(agreeing - drawn, 0.0))  # the share of the draws that disagree
    several = drawn + np.log(max(disagreeing, TINY_SHARE) * PRIOR_OF_DISAGREEMENT / (1 - PRIOR_OF_DISAGREEMENT))
    odds = np.exp(np.append(together, several if disagreeing > TINY_SHARE else -np.inf) - max(together.max(), several))
    return np.asarray(odds[:-1] / odds.sum())


def confidence_without_model(
    memberships: Array, prior_share: tuple[float, float] = PRIOR_SHARE, limit: float = MAX_WITHOUT_MODEL
) -> float:
    """Return the probability that most of the class that the examples belong to is in the component found.

    Notes
    -----
    Needs no model, only which of the examples are members: each is one draw of a share with a Beta distribution. Even a
    component with most of the members may hold much else, which no example can show.
    """
    members, others = memberships.sum(), (1 - memberships).sum()
    return float(limit * betaincc(members + prior_share[0], others + prior_share[1], 0.5))
