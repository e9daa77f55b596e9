"""The confidence of topics and communities: the probability that the component found is the one that the hint means."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

import numpy as np
from scipy.special import betaincc

from mixsearch._typing import Array
from mixsearch.core.component import Component
from mixsearch.core.extraction import DOUBTFUL_SEPARATION
from mixsearch.display import plain_chance, plain_number, pluralize
from mixsearch.errors import DoubtfulExamplesWarning, WeakHintWarning

# Below this lead over the runner-up, the hint is called weak.
WEAK_SEPARATION = 1.1


def check_separation(separation: float) -> list[WeakHintWarning]:
    """Return the warning that the hint does not single out one component, if there is one."""
    return [weak_hint(separation)] if separation < WEAK_SEPARATION else []


def weak_hint(separation: float, confidence: float | None = None) -> WeakHintWarning:
    """Return the warning that the hint does not single out one component."""
    known = "" if confidence is None else ", confidence {confidence:.2f}"
    facts: dict[str, Any] = {} if confidence is None else {"confidence": confidence}
    lead = "leads the runner-up by a factor of only" if separation >= 1 else "is behind another one by a factor of"
    return WeakHintWarning(
        "The hint hardly singles out a component: the one found "
        + lead
        + " {separation:.2f}, where 1 is a tie"
        + known
        + ". Look at the other components, or give a more specific hint "
        "(more examples, another word, a direction in which the components differ).",
        separation=separation,
        **facts,
    )


# Below this confidence, the answer is doubted.
DOUBTFUL_CONFIDENCE = 0.5
# Below this one, a component is hardly the one meant, and a list of its sure members would mislead.
MIN_LISTED_CONFIDENCE = 0.05


# The smallest lead over the runner-up, a code and a sentence; in falling order.
_VERDICTS = (
    (3.0, "clear", "clear match"),
    (DOUBTFUL_SEPARATION, "distinct", "good match"),
    (WEAK_SEPARATION, "close", "match, but the runner-up is close"),
    (1.0, "ambiguous", "weak match: the runner-up is about as good"),
    (-math.inf, "behind", "no match: another component fits the hint better"),
)


def verdict(separation: float) -> str:
    """Return in words what a separation means."""
    return _judge(separation)[1]


def verdict_code(separation: float) -> str:
    """Return the verdict as a code for programs."""
    return _judge(separation)[0]


def _judge(separation: float) -> tuple[str, str]:
    # The last one also for NaN, which is larger than nothing.
    return next(((code, words) for bound, code, words in _VERDICTS if separation >= bound), _VERDICTS[-1][1:])


# The smallest confidence, a code and a sentence; in falling order.
_VERDICTS_BY_CONFIDENCE = (
    (0.8, "clear", "clearly about what was asked"),
    (DOUBTFUL_CONFIDENCE, "likely", "probably about what was asked"),
    (0.2, "doubtful", "perhaps about something else"),
    (-math.inf, "unclear", "not about one subject: the hint says too little"),
)


def verdict_by_confidence(confidence: float) -> tuple[str, str]:
    """Return a code for programs and what a confidence means in words."""
    # A confidence that is not a number is as good as none.
    confidence = -math.inf if math.isnan(confidence) else confidence
    return next((code, words) for bound, code, words in _VERDICTS_BY_CONFIDENCE if confidence >= bound)


def separation_in_words(separation: float) -> str:
    """Return the separation and what it means."""
    return f"{plain_number(separation)}: {verdict(separation)}"


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


# A test of a right answer raises a false alarm this often.
MIN_P_VALUE = 0.01


C = TypeVar("C", bound=Component)


def trust(p_value: float) -> float:
    """Return the factor that a test leaves of a confidence."""
    return min(1.0, p_value / MIN_P_VALUE)


def lower_trust(found: C, factor: float) -> C:
    """Return an answer whose confidence is lowered by a factor."""
    changed: Any = found  # every component is a dataclass
    lowered: C = replace(changed, _trust=changed._trust * factor)
    return lowered


@dataclass(frozen=True, repr=False, eq=False)
class ConfidentComponent(Component):
    """A component with a probability that it is the one meant."""

    _trust: float = field(default=1.0, kw_only=True)  # what tests of the hint and of the fit leave of the confidence

    def _hint_shifts(self) -> Array | None:
        return None

    @cached_property
    def confidence(self) -> float:
        """The probability that this is the component that the hint means: that it comes first on new samples too."""
        return self._hint_confidence

    @cached_property
    def _hint_confidence(self) -> float:
        """The probability that the hint prefers this component, which its lead is about, times the trust in it."""
        return self._trust * self.p_first

    def _trust_facts(self) -> list[tuple[str, str]]:
        if self._family.chunks.is_detached:
            return super()._trust_facts()
        return [
            ("confidence", plain_chance(self.confidence)),
            ("separation", plain_number(self.separation)),
        ]
