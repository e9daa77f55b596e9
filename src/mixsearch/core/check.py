"""The check of an answer: examples that come back when they are left out, and reasons not to trust it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from mixsearch._typing import Array
from mixsearch.core.tuning import TUNING
from mixsearch.display import pluralize
from mixsearch.errors import DoubtfulExamplesWarning, SearchWarning, WeakHintWarning, collect_warnings

# Examples that are left out in turn, at most.
MAX_LEFT_OUT = 30
# One of q examples belongs to another component if its membership is below this / q.
MAX_DISAGREEMENT = 0.05


class Check(NamedTuple):
    """Where examples rank among all rows when they are left out.

    Attributes
    ----------
    ranks : array of shape (q,)
        The rank of each example when the others are searched for, in increasing order: 1 is first. Empty if there are
        fewer than two examples.
    n_rows : int
        The number of rows that are ranked.
    curve : array of shape (2, m) or None
        Numbers of rows, best first, and the recall that membership expects in them. None where membership does not come
        from the ranks: then the ranks alone say what to expect.

    Examples
    --------
    >>> from mixsearch import Check
    >>> print(Check(ranks=[4, 23, 26, 57, 196], n_rows=1000))
    4 of 5 examples come back among the first 60 when left out; reading the first 200 rows should find about 80%
    """

    ranks: Array
    n_rows: int
    curve: Array | None = None

    def expected_recall(self, n: int) -> float:
        """Estimate the fraction of all members among the first n rows.

        Parameters
        ----------
        n : int
            The number of rows that are read, best first.

        Returns
        -------
        float
            NaN without a check.

        Notes
        -----
        Without a curve: of q ranks of members, the k-th lies at a fraction of k / (q + 1) of all members on average,
        whatever their distribution is (order statistics); between ranks, the fraction is interpolated.
        """
        if self.curve is not None:
            return float(np.interp(n, *self.curve))
        ranks = np.sort(np.minimum(self.ranks, self.n_rows))
        q = len(ranks)
        if not q:
            return float("nan")
        if n >= self.n_rows:
            return 1.0
        k = int(np.searchsorted(ranks, n, side="right"))
        low, high = (ranks[k - 1] if k else 0), (ranks[k] if k < q else self.n_rows)
        return float((k + (n - low) / max(high - low, 1)) / (q + 1))

    def n_to_read(self, recall: float = 0.8) -> int:
        """Estimate how many rows to read, best first, to find a fraction of all members.

        Parameters
        ----------
        recall : float, default=0.8
            The fraction. At most q / (q + 1) of the members can be promised from the ranks of q examples alone.

        Returns
        -------
        int
            All rows without a check.
        """
        if self.curve is not None:
            return min(_round_up(int(np.ceil(np.interp(recall, *self.curve[::-1])))), self.n_rows)
        q = len(self.ranks)
        k = min(round(recall * (q + 1)), q)
        return min(_round_up(int(np.sort(self.ranks)[k - 1])), self.n_rows) if k > 0 else self.n_rows

    def __str__(self) -> str:
        q = len(self.ranks)
        if not q:
            return "no check: it needs two examples"
        ranks, n_read = np.asarray(self.ranks), self.n_to_read()
        # Of the cuts in the first half, the one best worth reading: many examples, few rows.
        half = -(-self.n_rows // 2)
        cuts = sorted({half, *(cut for cut in map(_round_up, ranks.tolist()) if cut < half)})
        cut = max(cuts, key=lambda n: np.sum(ranks <= n) / (q + 1) - np.log(n) / np.log(self.n_rows + 1))
        n_back = int(np.sum(ranks <= cut))
        come = pluralize(n_back, "comes", "come")
        return (
            f"{n_back} of {q} examples {come} back among the first {cut:,} when left out; reading the first "
            f"{n_read:,} rows should find about {round(self.expected_recall(n_read), 1):.0%}"
        )


def _round_up(n: int) -> int:
    """Round a number of rows up to one that reads well: 10, 20, ..., 100, 110, ..., 1,000, 1,100 ..."""
    unit = 10 ** max(len(str(n)) - 2, 1)
    return int(-(-n // unit) * unit)


def leave_out_each(find: Callable[..., Any] | None, examples: Any, rows: Any, n_rows: int) -> Check:
    """Search with each example left out, and rank it by its membership in the component that the others find.

    `rows` are all rows of the fit, as the search takes examples, or evenly spaced ones of the `n_rows`.
    """
    n = 0 if examples is None else examples.shape[0]
    if find is None or n < 2:
        return Check(np.empty(0, dtype=np.int64), n_rows)
    ranks = []
    with collect_warnings():  # they are about answers that nobody sees
        tested = np.unique(np.linspace(0, n - 1, min(n, MAX_LEFT_OUT)).astype(np.intp))
        for i, left_out in enumerate(tested, start=1):
            answer = find(examples=examples[np.arange(n) != left_out])
            membership = answer._membership_of(rows)
            example = answer._membership_of(examples[left_out : left_out + 1])[0]
            # Examples share a tie evenly: far from other components, most members have a membership of exactly 1.
            tied = np.mean(membership == example) * i / (len(tested) + 1)
            ranks.append(max(round(n_rows * float(np.mean(membership > example) + tied)), 1))
    return Check(np.sort(ranks), n_rows)


def check_answer(found: Any) -> list[SearchWarning]:
    """Find out whether the hint singles out one component, and whether the examples belong to it."""
    if found._examples is None:
        return [*check_lead(found)]
    memberships = found._membership_of(found._examples)
    rows = np.flatnonzero(memberships * len(memberships) < MAX_DISAGREEMENT)
    if not len(rows):
        return [] if found._refined is not None else [*check_lead(found)]
    n = len(memberships)
    sentence = (
        "The example does not belong to the component found. Give others, or fit more components."
        if n == 1
        else "{n_disagreeing} of {n_examples} examples do not belong to the component found (numbers {listed}, counted "
        "from 0). Leave out those that may be wrong."
    )
    listed = ", ".join(map(str, rows[:10])) + (", ..." if len(rows) > 10 else "")
    return [
        DoubtfulExamplesWarning(sentence, n_disagreeing=len(rows), n_examples=n, rows=rows[:10].tolist(), listed=listed)
    ]


def check_lead(found: Any, *, is_sure: bool = False) -> list[WeakHintWarning]:
    """Find out whether the hint singles out one component: a small lead is doubtful only if it may be noise.

    A clear lead is sure if the hint is made of samples, as `is_sure` says, or lies in the signal space.
    """
    v, V = found._hint, found._frame.basis
    # Of another direction the lead may be noise however large it is.
    is_inside = v is not None and np.sum((v @ V) ** 2) > TUNING.min_inside * (v @ v)
    is_sure = is_sure or found._examples is not None or is_inside
    if len(found.scores) == 1 or (found.separation >= found._clear_separation and is_sure):
        return []
    # What is sure by moments is mostly sure after EM too, whose errors take as long as EM.
    has_moments = found._moments_are_sure and found._refined is not None and getattr(found._family, "has_moments", True)
    estimates = [found.moment_estimate, found] if has_moments else [found]
    is_noise = found.separation < found._noisy_separation
    if not is_noise and any(estimate.p_first >= 1 - TUNING.max_lost for estimate in estimates):
        return []
    return [
        WeakHintWarning(
            "The hint hardly singles out a component: it leads the runner-up by a factor of {separation:.2f}, where 1 "
            "is a tie, and would lead on other samples with a probability of {percent:.0f}%. Look at `alternatives`, "
            "or give a more specific hint: a direction in which components differ, or examples.",
            separation=found.separation,
            percent=100 * found.p_first,
        )
    ]
