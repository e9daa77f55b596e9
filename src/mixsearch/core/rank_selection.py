"""How many directions carry signal: those found on some folds of the samples that still show in the rest."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np

from mixsearch._typing import Array, Matrix
from mixsearch.core.eigen import as_operator, top_eigenpairs
from mixsearch.display import Card, plain_number

# Row i belongs to part i mod 3, so that sorted rows do no harm. Directions from two thirds of the samples resolve
# weaker components than those from a half; with more parts than three, parts that share most of their samples agree
# by chance too often.
N_FOLDS = 3


# The chance that noise alone adds a direction, all looks together, were the parts independent: they share samples where
# directions come from, and in fact noise adds one in about 1 of 100 fits.
FALSE_ALARM = 0.002


# Any directions make an honest test, so that those of noise need not converge.
TOLERANCE, MAX_APPLICATIONS = 0.03, 6


# Rounding, beside the largest value.
MIN_VALUE = 1e-10


MIN_DIRECTIONS = 25


_MAX_ROUNDS = 10


_MAX_BARS = 15


class FoldSums(NamedTuple):
    """Sums over samples of what each shows of q directions, and of the noise."""

    n: int
    total: Array  # (q + 1,): parts of v'Av and noise for each direction v; last of the trace, or of the noise itself
    products: Array  # (q + 1, q + 1)


@dataclass(frozen=True, slots=True)
class Folds:
    """Samples in parts: the second moment beside each of them, and what it shows of directions found there."""

    second_beside: Callable[[int], Matrix]  # of all samples but those of one part: A and noise, (d, d)
    show: Callable[[list[Array]], FoldSums]  # of directions V for each part, (d, q)


@dataclass(frozen=True, eq=False, repr=False)
class Spectrum:
    """The eigenvalues of a second moment, as found and as they hold on samples that were not used to find them.

    Attributes
    ----------
    found : array of shape (q,)
        Eigenvalues of the second moment less the noise, on the samples that directions are taken from. Those of noise
        are above 0 too: the directions were chosen for them.
    held_out : array of shape (q,)
        The same directions on the other samples. Those of noise are around 0.
    stderr : array of shape (q,)
        The standard errors of `held_out`.
    counts : array of bool of shape (q,)
        Which directions stand out of what noise alone gives.
    noise : float
        The noise level that was taken off: the average of all directions that do not count; 0 for topics, whose moments
        hold no noise.
    threshold : float
        From how many standard errors on a direction counts.
    least_held : float
        The part of `found` that must be held as well.
    n_components : int
        The number of components that so many directions stand for.

    Notes
    -----
    A direction found on some samples is independent of the others, where it shows v'Av whatever the noise looks like.
    So no distribution of the noise's own eigenvalues is needed: variances may differ from component to component, tails
    be heavy, and features outnumber samples. What it cannot see is whether the model suits the data: where clusters are
    ellipsoids, their long axes carry signal as well and are counted.
    """

    found: Array
    held_out: Array
    stderr: Array
    counts: Array
    noise: float
    threshold: float
    least_held: float
    n_components: int

    @property
    def n_signal(self) -> int:
        """How many directions stand out."""
        return int(np.count_nonzero(self.counts))

    @property
    def is_full(self) -> bool:
        """Whether every direction that was looked at stands out, so that there may be more."""
        return bool(len(self.counts)) and bool(self.counts.all())

    def as_dict(self) -> dict[str, Any]:
        """All of it as JSON has it."""
        arrays = {name: getattr(self, name).tolist() for name in _ARRAYS}
        return arrays | {name: getattr(self, name) for name in _NUMBERS}

    @classmethod
    def from_dict(cls, stored: dict[str, Any]) -> Spectrum:
        """The way back."""
        return cls(**stored | {name: np.array(stored[name]) for name in _ARRAYS})

    def _card(self) -> Card:
        return Card(
            title=f"Spectrum with {self.n_signal} of {len(self.counts)} directions above the noise",
            facts=[
                ("components", f"{self.n_components:,}"),
                ("noise level", plain_number(self.noise)),
                ("a direction counts", f"from {self.threshold:.1f} standard errors on{_and_half(self.least_held)}"),
            ],
            bars=[(_name(i, self), float(value)) for i, value in enumerate(self.held_out[:_MAX_BARS])],
            bars_title="each direction on samples that it was not found on",
        )

    def __repr__(self) -> str:
        return self._card().text()

    def _repr_html_(self) -> str:
        return self._card().html()


_ARRAYS = ("found", "held_out", "stderr", "counts")


_NUMBERS = ("noise", "threshold", "least_held", "n_components")


def _and_half(least_held: float) -> str:
    return f", where {least_held:.0%} of what was found are held" if least_held else ""


def _name(i: int, spectrum: Spectrum) -> str:
    return f"{i + 1} ± {plain_number(float(spectrum.stderr[i]))}{'' if spectrum.counts[i] else ' (noise)'}"


def find_spectrum(
    parts: Folds,
    n_directions: int,
    components_of: Callable[[int], int],
    *,
    n_features: int | None,
    least_held: float = 0.0,
    seed: int,
    n_threads: int = 1,
    block: int | None = None,
) -> Spectrum:
    """Take directions from all parts but one, look at them on that one, for each in turn, and count those that hold.

    Parameters
    ----------
    parts : Parts
    n_directions : int
        q, how many to look at, at most; below `n_features`, where those are given. A quarter of them is enough where no
        more than half of those count.
    components_of : callable
        From the number of directions that carry signal to the number of components.
    n_features : int, optional
        Where the noise is the same in every direction and its level is not known: so many directions there are, and
        those that do not count tell it from the trace. None where each part shows the noise itself.
    least_held : float
        The part of its eigenvalue that a direction must keep on the other samples.
    seed : int
        Of the eigen-solver's starting block.
    n_threads, block : int
        As `top_eigenpairs` takes them.
    """

    def look(q: int) -> Spectrum:
        found, shown = _look(parts, q, {"seed": seed, "n_threads": n_threads, "block": block})
        return _count(found, shown, n_features, components_of, least_held)

    few = min(max(n_directions // 4, MIN_DIRECTIONS), n_directions)
    spectrum = look(few)
    return spectrum if 2 * spectrum.n_signal <= few or few == n_directions else look(n_directions)


def _look(parts: Folds, n_directions: int, solver: dict[str, Any]) -> tuple[Array, FoldSums]:
    """Eigenvalues where directions were found, (q,), and what the other samples show of them."""
    found, directions = np.zeros(n_directions), []
    for part in range(N_FOLDS):
        values, vectors, _ = top_eigenpairs(
            as_operator(parts.second_beside(part)),
            n_directions,
            tol=TOLERANCE,
            max_applications=MAX_APPLICATIONS,
            **solver,
        )
        found += values / N_FOLDS
        directions.append(vectors)
    return found, parts.show(directions)


def max_directions(n_samples: int, most: int, limit: int) -> int:
    """As many as the samples of all parts but one can tell, and no more than a limit."""
    return max(min(most, limit, n_samples * (N_FOLDS - 1) // N_FOLDS - 2), 0)


def sums_of(values: Array, noise: Array) -> FoldSums:
    """Sums over samples of what each shows of the directions, (n, q), and of the noise, (n,)."""
    columns = np.column_stack([values, noise])
    return FoldSums(len(columns), columns.sum(axis=0), columns.T @ columns)


def _count(
    found: Array, shown: FoldSums, n_features: int | None, components_of: Callable[[int], int], least_held: float
) -> Spectrum:
    """Count the directions that stand out of the noise, which those that do not count tell."""
    q = len(found)
    threshold = NormalDist().inv_cdf(1 - FALSE_ALARM / max(q, 1))
    counts = np.ones(q, dtype=bool)
    for _ in range(_MAX_ROUNDS):
        noise = _noise_of(counts, n_features)
        level = float(shown.total @ noise)
        held_out, stderr = _contrast(shown, noise)
        rounding = MIN_VALUE * np.abs(shown.total[:q]).max(initial=0.0)
        least = np.maximum.reduce([threshold * stderr, least_held * (found - level), np.full(q, rounding)])
        before, counts = counts, held_out > least
        if np.array_equal(counts, before):
            break
    n_components = components_of(int(np.count_nonzero(counts)))
    return Spectrum(found - level, held_out, stderr, counts, level, threshold, least_held, n_components)


def _noise_of(counts: Array, n_features: int | None) -> Array:
    """The noise level as a combination of what is shown, (q + 1,): the trace less what counts, per direction left."""
    if n_features is None:
        return np.append(np.zeros(len(counts)), 1.0)
    return np.append(-counts.astype(np.float64), 1.0) / (n_features - np.count_nonzero(counts))


def _contrast(shown: FoldSums, noise: Array) -> tuple[Array, Array]:
    """What each direction shows above the noise, (q,), and its standard error.

    Notes
    -----
    Both are linear in what a sample shows, so the sums hold all it takes. Sample by sample, a noisy one has more of
    both, and the difference less spread than either.
    """
    q = len(noise) - 1
    above = np.eye(q + 1, q) - noise[:, None]
    scatter = shown.products - np.outer(shown.total, shown.total) / max(shown.n, 1)
    variance = np.einsum("ij,ij->j", above, scatter @ above)
    return shown.total @ above, np.sqrt(np.maximum(variance, 0))
