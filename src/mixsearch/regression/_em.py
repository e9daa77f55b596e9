"""Likelihood steps for all regressions of a mixture, in all dimensions at once.

Outside the span of all slopes a standardised x tells nothing of membership, so that the information there is one k x k
matrix for every direction alike: a Newton step costs two thin products with the samples, and three or four reach the
maximum. A few of the samples lead most of the way there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.special import softmax

from mixsearch._typing import Array, Samples
from mixsearch.core.em import EMOptions, EMResult, run_em
from mixsearch.core.jackknife import invert_information
from mixsearch.data.chunks import CACHED_ROWS, ArraySum, add_all, chunk_rows, row_slices, sum_chunks
from mixsearch.data.partitions import Partition, Partitions, SamplePartition
from mixsearch.regression._design import Design, sum_centered
from mixsearch.regression._moments import Lines

# The first steps take so many samples, and so many per parameter.
FEW_SAMPLES, FEW_PER_PARAMETER = 20_000, 20


# Steps of expectation maximisation before those of Newton, which want to start near the maximum.
START = EMOptions(max_iter=30, tol=5.0)


# No noise variance falls below these parts of their average and of the variance of y: a line through a few samples has
# an infinite likelihood otherwise.
LEAST_VARIANCE, LEAST_ENERGY = 1e-3, 1e-10


# Directions in which all slopes together are this small count as outside their span.
LEAST_SPAN = 1e-3


# Of logarithms of variances and weights, in one step.
LONGEST_STEP = 2.0


# A step that lowers the likelihood is halved so many times before it is given up.
MOST_HALVINGS = 8


# Samples at once in a step: what it makes of them stays in cache.
STEP_ROWS = 8 * CACHED_ROWS


# Numbers that are brought together from all shards where many steps will look at them.
MOST_GATHERED = 20_000_000


class Expected(NamedTuple):
    """What a mixture says of the samples."""

    residuals: Array  # (n, k)
    memberships: Array  # (n, k)
    objective: float


class Totals(NamedTuple):
    """Sums over all samples."""

    responses: float  # Σ t
    squares: float  # Σ t²
    rows: Array  # Σ (x - center), (d, 1)


@dataclass(frozen=True)
class Regressors:
    """Samples as likelihood steps see them: standardised around their mean, or around zero without intercepts."""

    design: Design
    partitions: Partitions[SamplePartition]
    constant: bool  # whether the components have levels of their own
    least_variance: float = LEAST_VARIANCE

    @cached_property
    def _totals(self) -> Totals:
        return self.partitions.reduce(_totals, self.design.center)

    @cached_property
    def energy(self) -> float:
        """The variance of y, or a trace of one where y is constant."""
        n, totals = self.partitions.n_rows, self._totals
        return max(totals.squares / n - (totals.responses / n) ** 2, np.finfo(float).tiny)

    @cached_property
    def drift(self) -> Array:
        """The mean of z, where it has one, as a unit column, (r, 1) or (r, 0): outside the span there shall be none."""
        mean = self.design.standardised_sums(self._totals.rows)
        length = float(np.linalg.norm(mean))
        return mean / length if length > 1e-6 * self.partitions.n_rows else mean[:, :0]

    def thin(self, step: int) -> Regressors:
        """Every so many-th sample."""
        return replace(self, partitions=self.partitions.thin(step).persist())

    def collect(self) -> Regressors:
        """The same in this process, where the samples are few."""
        return replace(self, partitions=self.partitions.collect())


def _totals(partition: SamplePartition, center: Array) -> Totals:
    t = partition.responses
    ones = np.ones((len(t), 1))
    return Totals(float(t.sum()), float(t @ t), sum_centered(partition.samples, center, ones))


class Span(NamedTuple):
    """The directions in which samples are looked at."""

    axes: Array  # from x - center to what is seen of it, (d, p)
    center: Array  # (d,)
    within: Array  # from there to the coordinates of an orthonormal basis, (p, q)
    predicted: Array  # from there to what the slopes predict, (p, k)
    constant: bool  # whether 1 is one more coordinate

    def inside(self, seen: Array) -> Array:
        """The coordinates of samples, (n, q), and 1 where components have levels, (n, q + 1)."""
        inside = seen @ self.within
        return np.column_stack([inside, np.ones(len(inside))]) if self.constant else inside


@dataclass(frozen=True)
class ProjectedPartition(Partition):
    """Samples in the span of all slopes, with what a mixture says of them."""

    inside: Array  # zQ, and 1 where components have levels, (n, q) or (n, q + 1)
    residuals: Array  # (n, k)
    memberships: Array  # (n, k)

    def scores(self, lines: Lines, rows: slice) -> Array:
        """Derivatives of samples' log-likelihood, (n, p): by inside coefficients, log variances and log weights."""
        inside, residuals, members = self.inside[rows], self.residuals[rows], self.memberships[rows]
        pulls = members * residuals / lines.variances
        by_slopes = (pulls[:, :, None] * inside[:, None, :]).reshape(len(inside), pulls.shape[1] * inside.shape[1])
        return np.hstack([by_slopes, 0.5 * (pulls * residuals - members), members - lines.weights])


class Looked(NamedTuple):
    """Sums over all samples: what the next step needs."""

    objective: float
    sizes: Array  # Σ p, (k,), with the memberships p
    energies: Array  # Σ pe², (k,), with the residuals e
    inside: Array  # Σ g ⊗ the inside features, (k, q) or (k, q + 1), with the pulls g = pe/variance
    pulls: Array  # Σ gg', (k, k)
    rows: Array  # Σ (x - center) g', (d, k)


class Position(NamedTuple):
    """A mixture with what it says of the samples, in the span of its slopes."""

    lines: Lines
    basis: Array  # Q of the span, (r, q), orthonormal
    sums: Looked
    seen: Partitions[ProjectedPartition]  # few of the samples, or all
    n_rows: int  # of all

    @property
    def n_features(self) -> int:
        """Of what is seen inside the span."""
        return int(self.sums.inside.shape[1])


def climb_regressions(regressors: Regressors, start: Lines, steps: EMOptions, *, few: int = 1) -> EMResult[Lines]:
    """From rough lines to the maximum of the likelihood."""
    part = regressors.thin(few)
    lines = _maximise_in_span(part, start)
    if few > 1:
        lines = _ascend(part, lines, EMOptions(steps.max_iter, 1.0)).state
    return _ascend(regressors, lines, steps)


def _ascend(regressors: Regressors, start: Lines, steps: EMOptions) -> EMResult[Lines]:
    """Newton steps, which know the objective of where they lead before they are taken."""
    here = look(regressors, start)
    objectives = [here.sums.objective]
    while len(objectives) <= steps.max_iter:
        beyond = _step(regressors, here)
        if beyond is None:
            break
        here = beyond
        objectives.append(here.sums.objective)
        if objectives[-1] - objectives[-2] < steps.tol:
            break
    return EMResult(here.lines, tuple(objectives))


def look(regressors: Regressors, lines: Lines, *, whole: bool = False, every: int | None = None) -> Position:
    """One pass over the samples.

    Parameters
    ----------
    regressors : Regressors
    lines : Lines
    whole : bool
        Take the span to be the whole space.
    every : int, optional
        Keep what is seen of every so many-th sample; by default of as many as the information needs.
    """
    basis, span = _span_of(regressors, lines, whole=whole)
    n, k, q = regressors.partitions.n_rows, len(lines.levels), basis.shape[1] + regressors.constant
    n_scores = k * q + 2 * k
    some = every or max(n // max(FEW_SAMPLES, FEW_PER_PARAMETER * n_scores), 1)
    seen, sums = regressors.partitions.map_reduce(_look, span, lines, some)
    return Position(lines, basis, sums, replace(seen, layout=seen.layout._replace(n_rows=-(-n // some))), n)


def _span_of(regressors: Regressors, lines: Lines, *, whole: bool = False) -> tuple[Array, Span]:
    """An orthonormal basis of the span of all slopes, (r, q), and how samples are seen in it."""
    k, r = len(lines.levels), len(lines.slopes)
    directions = np.eye(r) if whole else np.hstack([lines.slopes, regressors.drift])
    left, values, right = np.linalg.svd(directions, full_matrices=False)
    kept = values > LEAST_SPAN * max(float(values.max(initial=0.0)), np.finfo(float).tiny)
    predicted = lines.slopes if whole else np.eye(directions.shape[1], k)
    axes, within = regressors.design.coefficients(directions), right[kept].T / values[kept]
    return left[:, kept], Span(axes, regressors.design.center, within, predicted, regressors.constant)


def _centered_blocks(X: Samples, center: Array) -> Iterator[tuple[slice, Samples]]:
    """Samples block by block; those that are dense around their center."""
    if sp.issparse(X):
        blocks = chunk_rows(sp.csr_array(X))
        yield from ((rows, blocks.read(number)) for number, rows in blocks.enumerate())
        return
    middle = center.astype(X.dtype)
    yield from ((rows, X[rows] - middle) for rows in row_slices(X.shape[0], STEP_ROWS))


def _look(partition: SamplePartition, span: Span, lines: Lines, some: int) -> tuple[ProjectedPartition, Looked]:
    """Every `some`-th sample as it is seen, and the sums over all of them."""
    sums, seen = [], []
    for rows, block in _centered_blocks(partition.samples, span.center):
        place = _see(block, span)
        inside, expected = span.inside(place), expect(lines, place @ span.predicted, partition.responses[rows])
        sums.append(_summed(block, span.center, inside, expected, lines))
        seen.append(
            ProjectedPartition(partition.first + rows.start, inside, expected.residuals, expected.memberships).thin(
                some
            )
        )
    return ProjectedPartition.joined(seen), add_all(sums)


def _see(block: Any, span: Span) -> Array:
    """What is seen of a block, (n, p)."""
    if sp.issparse(block):
        return np.asarray(block @ span.axes - span.center @ span.axes, dtype=np.float64)
    return np.asarray(block @ span.axes.astype(block.dtype), dtype=np.float64)


def _summed(block: Any, center: Array, inside: Array, expected: Expected, lines: Lines) -> Looked:
    residuals, members, objective = expected
    own = members * residuals
    pulls = own / lines.variances
    rows = np.asarray(block.T @ pulls, dtype=np.float64)
    return Looked(
        objective=objective,
        sizes=members.sum(axis=0),
        energies=np.sum(own * residuals, axis=0),
        inside=pulls.T @ inside,
        pulls=pulls.T @ pulls,
        rows=rows - np.outer(center, pulls.sum(axis=0)) if sp.issparse(block) else rows,
    )


def expect(lines: Lines, predicted: Array, responses: Array) -> Expected:
    """Residuals, memberships and the log-likelihood, from what the slopes alone predict, (n, k)."""
    # One row per component: sums over few columns would be slow.
    residuals = responses - predicted.T - lines.levels[:, None]
    logs = np.square(residuals)
    logs *= -0.5 / lines.variances[:, None]
    logs += (np.log(lines.weights) - 0.5 * np.log(2 * np.pi * lines.variances))[:, None]
    top = logs.max(axis=0)
    logs -= top
    np.exp(logs, out=logs)
    total = logs.sum(axis=0)
    logs /= total
    return Expected(residuals.T, logs.T, float(top.sum() + np.log(total).sum()))


def _step(regressors: Regressors, here: Position) -> Position | None:
    """The next position, or None where no part of the step gains."""
    move = _newton(regressors, here)
    for halvings in range(MOST_HALVINGS + 1):
        beyond = look(regressors, _moved(regressors, here, move, 0.5**halvings))
        if beyond.sums.objective >= here.sums.objective:
            return beyond
    return None


class Move(NamedTuple):
    """A Newton step."""

    inside: Array  # of the coefficients on the inside features, (q, k) or (q + 1, k)
    outside: Array  # of the slopes outside their span, (r, k)
    variances: Array  # of the logarithms, (k,)
    weights: Array  # of the logarithms up to a constant, (k,)


def _newton(regressors: Regressors, here: Position) -> Move:
    """The step that the information asks for: full for all that lies in the span, k x k outside of it.

    Notes
    -----
    z outside the span is uncorrelated with all that is inside and has covariance I, whence the block form. The sum of
    the outer products of the scores stands for the information: it is never negative, and agrees with minus the second
    derivative at the maximum up to the noise of the samples.
    """
    lines, sums, k = here.lines, here.sums, len(here.lines.levels)
    information = information_of(here) * (here.n_rows / here.seen.n_rows)
    gradient = np.concatenate(
        [
            sums.inside.ravel(),
            0.5 * (sums.energies / lines.variances - sums.sizes),
            sums.sizes - here.n_rows * lines.weights,
        ]
    )
    move = invert_information(information) @ gradient
    total = regressors.design.standardised_sums(sums.rows)
    beside = total - here.basis @ (here.basis.T @ total)
    outside = beside @ invert_information(sums.pulls)
    return Move(move[: -2 * k].reshape(k, -1).T, outside, move[-2 * k : -k], move[-k:])


def information_of(here: Position) -> Array:
    """The sum of the outer products of the scores of what is seen, (p, p)."""
    return np.asarray(here.seen.reduce(_information, here.lines).total)


def _information(partition: ProjectedPartition, lines: Lines) -> ArraySum:
    def work(rows: slice) -> ArraySum:
        scores = partition.scores(lines, rows)
        return ArraySum(scores.T @ scores)

    return sum_chunks(work, row_slices(len(partition.inside)))


def _moved(regressors: Regressors, here: Position, move: Move, part: float) -> Lines:
    """Lines after a part of a step.

    The noise variance has counted what the slopes lacked outside the span: it loses what they gain there.
    """
    slopes, levels, variances, weights = here.lines
    inside, outside = part * move.inside, part * move.outside
    if regressors.constant:
        levels, inside = levels + inside[-1], inside[:-1]
    longest = LONGEST_STEP * part
    variances = variances * np.exp(np.clip(part * move.variances, -longest, longest))
    variances = np.maximum(variances - np.sum(outside**2, axis=0), 0.1 * variances)
    weights = softmax(np.log(weights) + np.clip(part * move.weights, -longest, longest))
    return Lines(slopes + here.basis @ inside + outside, levels, _floored(variances, weights, regressors), weights)


def _floored(variances: Array, weights: Array, regressors: Regressors) -> Array:
    return np.maximum(
        variances, max(regressors.least_variance * float(weights @ variances), LEAST_ENERGY * regressors.energy)
    )


@dataclass(frozen=True)
class SpanPartition(Partition):
    """Samples in the span of all slopes."""

    inside: Array  # (n, q) or (n, q + 1)
    responses: Array  # (n,)


class Maximised(NamedTuple):
    """Sums that one step of expectation maximisation takes."""

    objective: float
    sizes: Array  # Σ p, (k,)
    squares: Array  # Σ p ss', (k, q, q), with the inside features s
    left: Array  # Σ p e s, (k, q), with the residuals e
    energies: Array  # Σ p e², (k,)


def _maximise_in_span(regressors: Regressors, start: Lines) -> Lines:
    """Steps of expectation maximisation with slopes that stay in their span."""
    basis, span = _span_of(regressors, start)
    partitions = regressors.partitions.map(_inside, span)
    n_numbers = partitions.n_rows * (basis.shape[1] + 2)
    near: Partitions[SpanPartition] = partitions.collect() if n_numbers < MOST_GATHERED else partitions.persist()
    levelled = regressors.constant

    def step(lines: Lines) -> tuple[Lines, float]:
        before = np.vstack([basis.T @ lines.slopes, *([lines.levels] if levelled else [])])
        sums = near.reduce(_maximised, before, lines)
        sizes = np.maximum(sums.sizes, 1e-9)
        explained = sums.left + np.einsum("kij,jk->ki", sums.squares, before)
        fits = np.column_stack([least_squares(*each) for each in zip(sums.squares, explained, strict=True)])
        # Around the lines before: sums around zero would lose the digits of a small noise.
        moved = (fits - before).T
        gained = 2 * sums.left - np.einsum("kij,kj->ki", sums.squares, moved)
        variances = (sums.energies - np.sum(moved * gained, axis=1)) / sizes
        weights = sizes / sizes.sum()
        slopes, levels = (fits[:-1], fits[-1]) if levelled else (fits, np.zeros(len(weights)))
        return Lines(basis @ slopes, levels, _floored(variances, weights, regressors), weights), sums.objective

    return run_em(start, step, START).state


def _inside(partition: SamplePartition, span: Span) -> SpanPartition:
    blocks = _centered_blocks(partition.samples, span.center)
    inside = np.concatenate([span.inside(_see(block, span)) for _, block in blocks])
    # Column by column: products with one number per sample would be slow where rows are short.
    return SpanPartition(partition.first, np.asfortranarray(inside), partition.responses)


def _maximised(partition: SpanPartition, fits: Array, lines: Lines) -> Maximised:
    """From lines with these coefficients on the inside features, (q, k)."""
    plain = lines._replace(levels=np.zeros_like(lines.levels))  # levels are in the coefficients

    def work(rows: slice) -> Maximised:
        inside, responses = partition.inside[rows], partition.responses[rows]
        residuals, members, objective = expect(plain, inside @ fits, responses)
        weighted = [inside * own[:, None] for own in members.T]
        pulled = members * residuals
        return Maximised(
            objective=objective,
            sizes=members.sum(axis=0),
            squares=np.stack([each.T @ inside for each in weighted]),
            left=pulled.T @ inside,
            energies=np.sum(pulled * residuals, axis=0),
        )

    return sum_chunks(work, row_slices(len(partition.inside), STEP_ROWS))


def least_squares(squares: Array, explained: Array) -> Array:
    """Coefficients on few features s from Σ ss' and Σ ts, (q,); the smallest, where samples do not tell them all."""
    return np.asarray(np.linalg.pinv(squares, rcond=1e-12, hermitian=True) @ explained)
