"""The audit: precision, recall and the number of members from a few rows that a person judges.

The rows, or documents, of an answer are cut into strata by the rank of their score: the ends of strata are a factor of
two apart, and one of them is the end of the list. Within a stratum, rows are judged in a fixed random order: the judged
ones are a random sample, whatever the score is worth. How the shares of members change from stratum to stratum is a
hidden Markov chain, and its posterior given the judgements is drawn from exactly. Shares mostly fall with the rank,
at a rate that mostly stays, so that a huge stratum with a few judged rows and not one member is not left wide open.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import takewhile
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from mixsearch._typing import Array
from mixsearch.core.validation import check_positive_int
from mixsearch.errors import ArgumentError, AuditError, Option

# More groups than this are not a summary.
MAX_GROUPS = 200


@dataclass(frozen=True)
class Tuning:
    """Chosen on the development data of benchmarks/audit.py, by coverage and width; reported on the others."""

    min_stratum: int = 8  # rows; the list is halved into strata as long as the first one has as many
    highest: float = 6.0  # logit of the highest share
    step: float = 0.25  # distance of the levels of logits
    slopes: tuple[float, ...] = (0.0, 0.5, 1.0, 2.0, 4.0)  # falls of the logit per stratum, all as likely
    stay: float = 0.5  # probability that the slope is that of the stratum before
    jump: float = 0.02  # probability that a share has nothing to do with that of the stratum before
    worthless: float = 0.1  # probability that the score says nothing: the share never falls
    good: float = 0.6  # probability that the first share is above .73
    group_weight: float = 2.0  # judged rows that the share of a stratum counts as in the share of a group within it
    n_draws: int = 2000  # from the posterior


TUNING = Tuning()


class Estimate(NamedTuple):
    """An estimate with a 95% interval."""

    estimate: float
    low: float
    high: float


@dataclass(frozen=True)
class AuditResult:
    """What the judged rows say about an answer.

    Attributes
    ----------
    n_judged : int
        How many rows were judged.
    n_listed, n_rows : int
        The length of the list, and how many rows there are.
    precision : Estimate
        The fraction of the list that are members.
    recall : Estimate
        The fraction of members that are in the list; 1 if there are none.
    n_members : Estimate
        How many rows are members.

    Examples
    --------
    >>> import numpy as np
    >>> from mixsearch import Audit
    >>> is_member = np.arange(1000) < 100
    >>> audit = Audit(scores=-np.arange(1000.0), n_listed=120)
    >>> result = audit.judge({row: is_member[row] for row in audit.draw(40)})
    >>> result.n_members.low <= 100 <= result.n_members.high
    True
    """

    n_judged: int
    n_listed: int
    n_rows: int
    precision: Estimate
    recall: Estimate
    n_members: Estimate
    _split: Callable[[Any], dict[Hashable, AuditResult]] = field(repr=False, compare=False)

    @property
    def share(self) -> Estimate:
        """The fraction of all rows that are members."""
        return Estimate(*(end / max(self.n_rows, 1) for end in self.n_members))

    def to_dict(self) -> dict[str, Any]:
        """Return the result as JSON has it.

        Returns
        -------
        dict
            With n_judged, n_listed and n_rows; and precision, recall, n_members and share, each with estimate, low and
            high, the ends of a 95% interval.
        """
        counts = {name: getattr(self, name) for name in ("n_judged", "n_listed", "n_rows")}
        names = ("precision", "recall", "n_members", "share")
        return counts | {name: getattr(self, name)._asdict() for name in names}

    def by(self, column: str | ArrayLike) -> dict[Hashable, AuditResult]:
        """Estimate the same for each group of rows.

        Parameters
        ----------
        column : str or array of shape (n_rows,)
            The group of each row, or the name of a column of the answer's table.

        Returns
        -------
        dict
            From the value of a group to its result, sorted by value. The members of groups add up to all members.
        """
        return self._split(column)

    def __str__(self) -> str:
        n, low, high = (round(end) for end in self.n_members)
        rows = f"{self.n_judged:,} judged row{'s'[: self.n_judged != 1]}"
        return (
            f"{rows}: about {n:,} of {self.n_rows:,} are members (95%: {low:,} to {high:,}); the first "
            f"{self.n_listed:,} have a precision of {_format(self.precision)} and a recall of {_format(self.recall)}"
        )


def _format(fraction: Estimate) -> str:
    estimate, low, high = (f"{100 * end:.0f}" for end in fraction)
    return f"{estimate}% ({low} to {high}%)"


class Audit:
    """Estimate precision, recall and the number of members of an answer from a few judged rows.

    Parameters
    ----------
    scores : array of shape (n,)
        One score per row; higher is more like a member.
    n_listed : int
        How many rows of the highest scores the answer lists.
    known : mapping from int to bool, optional
        Rows of which it is known beforehand whether they are members, such as the examples.
    get_column : callable, optional
        From the name of a column to its n values, for results by group.
    random_state : int, default=0
        Seed of the order in which the rows of a stratum are judged. The same seed draws the same rows again.

    Attributes
    ----------
    result : AuditResult or None
        What the judgements so far say.

    Examples
    --------
    >>> import numpy as np
    >>> from mixsearch import Audit
    >>> is_member = np.arange(1000) < 100
    >>> audit = Audit(scores=-np.arange(1000.0), n_listed=120)
    >>> few = audit.judge({row: is_member[row] for row in audit.draw(20)})
    >>> more = audit.judge({row: is_member[row] for row in audit.draw(60)})
    >>> more.n_members.high - more.n_members.low < few.n_members.high - few.n_members.low
    True
    """

    def __init__(
        self,
        scores: ArrayLike,
        n_listed: int,
        *,
        known: Mapping[int, bool] | None = None,
        get_column: Callable[[str], ArrayLike] | None = None,
        random_state: int = 0,
    ) -> None:
        values = _check_scores(scores)
        n = len(values)
        check_positive_int("n_listed", n_listed)
        if n_listed > n:
            raise ArgumentError(
                "{name} must be at most the number of rows, {n:,}, got {given:,}.",
                name=Option("n_listed"),
                n=n,
                given=n_listed,
            )
        self.n_rows, self.n_listed = n, n_listed
        self.result: AuditResult | None = None
        self._get_column, self._seed = get_column, random_state
        self._judgements: dict[int, bool | None] = {}  # None for rows drawn and not judged
        self._known = {self._check_row(row): bool(is_member) for row, is_member in (known or {}).items()}
        ends = _cut_ranks(n, n_listed)
        self._n_strata, self._n_listed_strata = len(ends), ends.index(n_listed) + 1
        keys = np.random.default_rng(random_state).random(n)
        self._stratum = np.empty(n, dtype=np.intp)  # of each row
        self._stratum[np.lexsort((keys, -values))] = np.repeat(np.arange(len(ends)), np.diff(ends, prepend=0))
        # The rows of each stratum in the order in which they are judged. What is known already needs no judgement.
        order = np.lexsort((keys, self._stratum))
        order = order[self._mask_unknown(self._known)[order]]
        self._rows = np.split(order, np.searchsorted(self._stratum[order], np.arange(1, self._n_strata)))
        self._chain = _ShareChain(n)

    def draw(self, n: int = 20) -> Array:
        """Draw rows to judge: from strata in which a judgement tells the most, at random within each.

        Parameters
        ----------
        n : int, default=20
            How many. Two draws of 20, with judgements in between, tell more than one of 40.

        Returns
        -------
        array of int, shape (n,)
            Rows that were not drawn or judged before, in random order.
        """
        check_positive_int("n", n)
        is_waiting = self._mask_unknown(self._judgements)
        waiting = [rows[is_waiting[rows]] for rows in self._rows]
        n_left = sum(map(len, waiting))
        if n > n_left:
            raise ArgumentError(
                "{name} must be at most the number of rows that are not drawn yet, {n_left:,}, got {given:,}.",
                name=Option("n"),
                code="too_many_to_judge",
                n_left=n_left,
                given=n,
            )
        sizes = self._allocate(n, np.array([len(rows) for rows in waiting]))
        drawn = np.concatenate([rows[:size] for rows, size in zip(waiting, sizes, strict=True)])
        self._judgements |= dict.fromkeys(drawn.tolist())
        return np.random.default_rng((self._seed, len(self._judgements))).permutation(drawn)

    def judge(self, judgements: Mapping[int, bool | None]) -> AuditResult:
        """Add judgements, and estimate precision, recall and the number of members from all so far.

        Parameters
        ----------
        judgements : mapping from int to bool or None
            Whether each row is a member; None for a row that was skipped, or whose judgement is withdrawn. Rows that
            were not drawn count as what they are, but say nothing about others.

        Returns
        -------
        AuditResult
        """
        checked = {self._check_row(row): _check_judgement(row, each) for row, each in judgements.items()}
        for row, is_member in checked.items():
            before = self._known.get(row, self._judgements.get(row))
            if None not in (before, is_member) and before != is_member:
                raise AuditError(
                    "Row {row} is judged {now}, but was given as an example of the opposite."
                    if row in self._known
                    else "Row {row} is judged {now}, but was judged the opposite before. Judge it as None first.",
                    code="contradictory_judgement",
                    row=row,
                    now="yes" if is_member else "no",
                )
        self._judgements |= checked
        if all(each is None for each in self._judgements.values()):
            raise AuditError("No row is judged yet. Judge at least one as yes or no.", code="nothing_judged")
        posterior = self._draw_posterior()
        split = partial(self._summarize_groups, posterior)
        self.result = self._describe(posterior.hidden, posterior.certain, self._size_strata(), split)
        return self.result

    def _check_row(self, row: Any) -> int:
        is_number = isinstance(row, int | np.integer) and not isinstance(row, bool)
        if not is_number or not 0 <= row < self.n_rows:
            raise AuditError(
                "{row!r} is not a row: rows are numbered from 0 to {last:,}.",
                code="unknown_row",
                row=row,
                last=self.n_rows - 1,
            )
        return int(row)

    def _mask_unknown(self, rows: Mapping[int, Any]) -> Array:
        """Mark the rows that are not among some, (n,)."""
        is_unknown = np.ones(self.n_rows, dtype=bool)
        is_unknown[list(rows)] = False
        return is_unknown

    def _summarize_groups(self, posterior: _Posterior, column: str | ArrayLike) -> dict[Hashable, AuditResult]:
        names, group = self._find_groups(column)
        hidden = self._split(posterior, group, len(names))
        split = partial(self._summarize_groups, posterior)
        results: dict[Hashable, AuditResult] = {}
        for number, name in enumerate(names):
            certain = {row: each for row, each in posterior.certain.items() if group[row] == number}
            sizes = self._size_strata(group == number)
            results[name] = self._describe(hidden[:, :, number], certain, sizes, split)
        return results

    def _find_groups(self, column: str | ArrayLike) -> tuple[list[Hashable], Array]:
        """Return the values of a column, and the number of the value of each row, (n,)."""
        if isinstance(column, str):
            if self._get_column is None:
                raise ArgumentError("{name} must be an array: the audit has no table.", name=Option("column"))
            column = self._get_column(column)
        values = np.asarray(column)
        if values.shape != (self.n_rows,):
            raise ArgumentError(
                "{name} must have one value for each of the {n:,} rows, got shape {shape}.",
                name=Option("column"),
                n=self.n_rows,
                shape=values.shape,
            )
        names, group = np.unique(values.astype(str) if values.dtype == object else values, return_inverse=True)
        if len(names) > MAX_GROUPS:
            raise ArgumentError(
                "{name} has {n_groups:,} different values. Give a column of at most {most}.",
                name=Option("column"),
                code="too_many_groups",
                n_groups=len(names),
                most=MAX_GROUPS,
            )
        return names.tolist(), group

    def _draw_posterior(self) -> _Posterior:
        rng = np.random.default_rng((self._seed, len(self._judgements), 1))
        # The random sample of a stratum is what precedes, in random order, the first row neither drawn nor judged.
        drawn = [list(takewhile(self._judgements.__contains__, rows)) for rows in self._rows]
        sample = {row: each for rows in drawn for row in rows if (each := self._judgements[row]) is not None}
        shares = self._chain.draw(self._size_strata([*filter(sample.get, sample)]), self._size_strata([*sample]), rng)
        certain = {row: each for row, each in self._judgements.items() if each is not None} | self._known
        n_open = self._size_strata() - self._size_strata([*certain])
        return _Posterior(shares, rng.binomial(n_open[:, None], shares), sample, certain)

    def _size_strata(self, rows: Any = slice(None)) -> Array:
        """Count some rows in each stratum, (S,)."""
        return np.bincount(self._stratum[_as_index(rows)], minlength=self._n_strata)

    def _allocate(self, n: int, n_waiting: Array) -> Array:
        """Choose the number of rows to draw from each stratum, (S,), by the covariances of the posterior.

        One after another, the row is chosen whose judgement reduces the variances of log(number), precision and recall
        most, in the linear approximation.
        """
        posterior = self._draw_posterior()
        shares = posterior.shares
        certain = [row for row, each in posterior.certain.items() if each]
        members = posterior.hidden + self._size_strata(certain)[:, None]
        total, listed = members.sum(axis=0), members[: self._n_listed_strata].sum(axis=0)
        goals = np.stack([np.log(total + 0.5), listed / self.n_listed, listed / np.maximum(total, 1)])
        covariance, noise = np.cov(np.vstack([goals, shares])), (shares * (1 - shares)).mean(axis=1)
        sizes = np.zeros(self._n_strata, dtype=np.intp)
        for _ in range(n):
            variance = np.diag(covariance)[3:] + noise  # of one more judgement in each stratum
            gain = (covariance[:3, 3:] ** 2).sum(axis=0) / variance
            best = int(np.argmax(np.where(sizes < n_waiting, gain, -1)))
            sizes[best] += 1
            covariance = covariance - np.outer(covariance[3 + best], covariance[3 + best]) / variance[best]
        return sizes

    def _split(self, posterior: _Posterior, group: Array, n_groups: int) -> Array:
        """Split the hidden members of each stratum among groups, (S, draws, groups).

        The share of a group is near that of the whole stratum, unless judged rows of the group say otherwise.
        """
        cells = self._stratum * n_groups + group
        shape = (self._n_strata, 1, n_groups)

        def count(chosen: Any) -> Array:
            return np.bincount(cells[_as_index(chosen)], minlength=self._n_strata * n_groups).reshape(shape)

        yes, no = (count([row for row, each in posterior.sample.items() if each is wanted]) for wanted in (True, False))
        n_open = count(slice(None)) - count(list(posterior.certain))
        shares = np.clip(posterior.shares[:, :, None], 1e-9, 1 - 1e-9)
        rng, weight = np.random.default_rng((self._seed, 2)), TUNING.group_weight
        weights = n_open * rng.beta(weight * shares + yes, weight * (1 - shares) + no)
        weights = np.where(weights.sum(axis=2, keepdims=True) > 0, weights, 1)
        split = rng.multinomial(posterior.hidden, weights / weights.sum(axis=2, keepdims=True))
        return np.asarray(np.minimum(split, n_open))

    def _describe(self, hidden: Array, certain: Mapping[int, bool], sizes: Array, split: Any) -> AuditResult:
        """Describe all rows, or those of a group, by draws of members that are not judged, (S, draws)."""
        rows, is_member = np.array(list(certain), dtype=np.intp), np.array(list(certain.values()), dtype=bool)
        in_list = self._stratum[rows] < self._n_listed_strata
        hits, misses, false_hits = (
            int(each.sum()) for each in (is_member & in_list, is_member & ~in_list, ~is_member & in_list)
        )
        n_listed, n_rows = int(sizes[: self._n_listed_strata].sum()), int(sizes.sum())
        listed = hits + hidden[: self._n_listed_strata].sum(axis=0)
        total = hits + misses + hidden.sum(axis=0)
        return AuditResult(
            len(certain.keys() - self._known.keys()),
            n_listed,
            n_rows,
            _estimate(listed / max(n_listed, 1), hits, false_hits),
            _estimate(np.where(total > 0, listed / np.maximum(total, 1), 1), hits, misses),
            _estimate(total, hits + misses, 1),
            split,
        )


class _Posterior(NamedTuple):
    """Draws from the posterior given the judgements, and what is certain."""

    shares: Array  # of members in each stratum, (S, draws)
    hidden: Array  # members that are not judged in each stratum, (S, draws)
    sample: dict[int, bool]  # judged rows that are a random sample of their stratum
    certain: dict[int, bool]  # all judged rows, and those known beforehand


def _as_index(rows: Any) -> Any:
    return np.array(rows, dtype=np.intp) if isinstance(rows, list) else rows


def _check_judgement(row: int, judgement: Any) -> bool | None:
    if judgement is None or isinstance(judgement, bool | np.bool_):
        return None if judgement is None else bool(judgement)
    raise AuditError(
        "Row {row} is judged {judgement!r}. A judgement is True, False or None.", row=row, judgement=judgement
    )


def _estimate(draws: Array, n_for: int, n_against: int) -> Estimate:
    """Estimate by the median of draws, with an interval up to 0 or 1 where no judgement is against that end."""
    low, middle, high = np.quantile(draws, [0.025, 0.5, 0.975], method="nearest").tolist()
    if n_for and not n_against:
        low, high = float(np.quantile(draws, 0.05, method="nearest")), 1.0
    elif n_against and not n_for:
        low, high = 0.0, float(np.quantile(draws, 0.95, method="nearest"))
    return Estimate(middle, low, high)


class _ShareChain:
    """A hidden Markov chain of the shares of members in strata of falling scores.

    A state is a level of the logit of the share and the slope by which it fell. The next level is lower by the next
    slope, which is mostly the same; with a small probability, its share is drawn
    from Beta(1/2, 1/2).
    """

    def __init__(self, n_rows: int) -> None:
        levels = np.arange(TUNING.highest, -np.log(n_rows) - 2, -TUNING.step)  # down to a seventh of a row among all
        slopes = (0.0, *TUNING.slopes)  # the first one is that of a worthless score, and never changes
        n_levels, n_slopes = len(levels), len(slopes)
        slope = np.array([0, *[1 / (n_slopes - 1)] * (n_slopes - 1)])
        next_slope = TUNING.stay * np.eye(n_slopes) + (1 - TUNING.stay) * slope
        next_slope[0] = np.arange(n_slopes) == 0
        shares = 1 / (1 + np.exp(-levels))
        any_level, good_level = (each / each.sum() for each in (np.sqrt(shares * (1 - shares)), levels > 1))
        first = np.outer(TUNING.good * good_level + (1 - TUNING.good) * any_level, (1 - TUNING.worthless) * slope)
        first[:, 0] = TUNING.worthless * any_level
        # (level, slope) -> (next level, next slope)
        transition = np.tile(TUNING.jump * any_level[:, None] * next_slope[:, None], (n_levels, 1, 1, 1))
        for number, fall in enumerate(slopes):
            lower = np.minimum(np.arange(n_levels) + round(fall / TUNING.step), n_levels - 1)
            transition[np.arange(n_levels), :, lower, number] += (1 - TUNING.jump) * next_slope[:, number]
        self._first, self._levels = first.ravel(), np.repeat(levels, n_slopes)
        self._transition = transition.reshape(first.size, first.size)

    def draw(self, members: Array, judged: Array, rng: np.random.Generator) -> Array:
        """Draw the shares of all strata from their posterior, (S, draws): filter forward, sample backward."""
        n_draws = TUNING.n_draws
        log_yes, log_no = -np.logaddexp(0, -self._levels), -np.logaddexp(0, self._levels)
        prior, filtered = self._first, []
        for yes, n in zip(members, judged, strict=True):
            log_likelihood = yes * log_yes + (n - yes) * log_no
            posterior = prior * np.exp(log_likelihood - log_likelihood.max())
            filtered.append(posterior / posterior.sum())
            prior = filtered[-1] @ self._transition
        states = [rng.choice(len(prior), n_draws, p=filtered[-1])]
        for weights in filtered[-2::-1]:
            following, which = np.unique(states[-1], return_inverse=True)
            backward = np.cumsum(weights[:, None] * self._transition[:, following], axis=0)
            states.append((backward[:, which] < rng.random(n_draws) * backward[-1, which]).sum(axis=0))
        logits = self._levels[np.array(states[::-1])]
        # The grid is made continuous.
        return np.asarray(1 / (1 + np.exp(-logits - rng.uniform(-0.5, 0.5, logits.shape) * TUNING.step)))


def _cut_ranks(n: int, n_listed: int) -> list[int]:
    """Return the ends of strata: the length of the list, halved and doubled again and again, and n."""
    ends = [n_listed]
    while ends[0] >= TUNING.min_stratum:
        ends.insert(0, ends[0] // 2)
    while ends[-1] < 0.375 * n:  # so that the last one is not a small rest
        ends.append(2 * ends[-1])
    return ends if ends[-1] == n else [*ends, n]


def _check_scores(scores: ArrayLike) -> Array:
    values = np.asarray(scores, dtype=np.float64)
    if values.ndim != 1 or len(values) < 2:
        raise ArgumentError(
            "{name} must be a 1-D array of two or more numbers, got shape {shape}.",
            name=Option("scores"),
            shape=values.shape,
        )
    if np.isnan(values).any():
        raise ArgumentError(
            "{name} has {n:,} missing values. Each row needs a score.",
            name=Option("scores"),
            n=int(np.isnan(values).sum()),
        )
    if values.min() == values.max():
        raise AuditError(
            "All {n:,} scores are {value}: no row is more like a member than another. An audit needs a ranking.",
            code="constant_scores",
            n=len(values),
            value=float(values[0]),
        )
    return values
