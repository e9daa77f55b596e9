"""Cases of `trust.py` with Gaussians: searches for the first of four components."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from trust_question import CENTER_LIMIT, Question, is_nearest, is_weight_right

from mixsearch import GaussianSearch
from mixsearch._typing import Array
from mixsearch.datasets import make_gaussian_mixture, make_hint
from mixsearch.datasets.mixtures import GaussianMixtureData

K = 4
GAMMA = 0.9
VARIANCE_LIMIT, VARIANCE_DEVIATIONS = 0.1, 3.0
RARE = (0.332, 0.333, 0.333, 0.002)
# Standard deviations by the ratio of the largest variance to the smallest; the component asked for has the smallest.
DEVIATIONS = {4: (0.7, 1.0, 1.0, 1.4), 16: (0.5, 1.0, 1.0, 2.0), 64: (0.25, 0.5, 1.0, 2.0)}

Hint = Callable[[GaussianMixtureData, np.random.Generator], dict[str, Any]]
Change = Callable[[GaussianMixtureData, np.random.Generator], GaussianMixtureData]


@dataclass(frozen=True)
class GaussianCase:
    """How samples are drawn and corrupted, and the hint for the first component.

    Right is an answer that is nearest to its center, with an error of at most three times that of the mean of as many
    samples with the largest of the variances, a weight within five standard errors of the members' share, and, if
    variances are equal or the answer is refined, a variance within a tenth, or three standard errors if that is more.
    """

    hint: Hint
    deviation: float | tuple[float, ...] = 1.0
    n_samples: int = 3_000
    n_features: int = 30
    norm: float = 5.0
    weights: tuple[float, ...] | None = None
    change: Change = lambda data, rng: data
    n_components: int | Literal["auto"] = K
    refine: bool = False
    target: int | None = 0  # None: the component that scores highest under the direction
    has_answer: bool = True

    def __call__(self, seed: int) -> Question:
        """Draw the samples and the hint."""
        rng = np.random.default_rng(seed)
        drawn = make_gaussian_mixture(
            self.n_samples,
            self.n_features,
            K,
            deviation=self.deviation,
            norm=self.norm,
            weights=self.weights,
            random_state=seed,
        )
        data = self.change(drawn, rng)
        hint = self.hint(data, rng)
        return Question(
            ask=lambda: GaussianSearch(self.n_components).fit(data.X).search(**hint, refine=self.refine),
            is_right=lambda found: self._is_right(found, data, self._find_target(data, hint)),
            has_answer=self.has_answer,
        )

    def _find_target(self, data: GaussianMixtureData, hint: dict[str, Any]) -> int:
        return int(np.argmax(data.centers @ hint["hint"])) if self.target is None else self.target

    def _is_right(self, found: Any, data: GaussianMixtureData, target: int) -> bool:
        n, weight, own = len(data.X), data.weights[target], data.deviations[target]
        limit = CENTER_LIMIT * data.deviations.max() * np.sqrt(self.n_features / (n * weight))
        error = np.linalg.norm(found.center - data.centers[target])
        judges_variance = self.refine or np.ptp(data.deviations) == 0
        variance_limit = max(VARIANCE_LIMIT, VARIANCE_DEVIATIONS * np.sqrt(2 / (n * weight * self.n_features)))
        return (
            is_nearest(found.center, data.centers, target)
            and bool(error <= limit)
            and is_weight_right(found.weight, weight, n)
            and (not judges_variance or bool(abs(found.noise_variance / own**2 - 1) <= variance_limit))
        )


def direction(data: GaussianMixtureData, rng: np.random.Generator) -> dict[str, Any]:
    return {"hint": make_hint(data.centers, 0, gamma=GAMMA)}


def examples(*components: int) -> Hint:
    """Samples of the components given, drawn at random."""

    def draw(data: GaussianMixtureData, rng: np.random.Generator) -> dict[str, Any]:
        rows = [_members(data, component, components.count(component), rng) for component in sorted(set(components))]
        return {"examples": np.vstack(rows)}

    return draw


def _members(data: GaussianMixtureData, component: int, n: int, rng: np.random.Generator) -> Array:
    return data.X[rng.choice(np.flatnonzero(data.labels == component), n, replace=False)]


def fresh_member(data: GaussianMixtureData, rng: np.random.Generator) -> dict[str, Any]:
    """A new sample of the last component: the data may hold none of it."""
    noise = data.deviations[-1] * rng.standard_normal((1, data.centers.shape[1]))
    return {"examples": data.centers[-1] + noise}


def orthogonal(data: GaussianMixtureData, rng: np.random.Generator) -> dict[str, Any]:
    """A direction in which all centers are equal."""
    span, _ = np.linalg.qr(data.centers.T)
    drawn = rng.standard_normal(data.centers.shape[1])
    return {"hint": drawn - span @ (span.T @ drawn)}


def any_direction(data: GaussianMixtureData, rng: np.random.Generator) -> dict[str, Any]:
    return {"hint": rng.standard_normal(data.centers.shape[1])}


def tie(data: GaussianMixtureData, rng: np.random.Generator) -> dict[str, Any]:
    """A direction in which two centers lie equally far out, and the others at zero."""
    return {"hint": np.linalg.pinv(data.centers) @ np.array([1.0, 1.0, 0.0, 0.0])}


def halfway(data: GaussianMixtureData, rng: np.random.Generator) -> dict[str, Any]:
    """An example between two centers, where the two densities are equal."""
    return {"examples": data.centers[:2].mean(axis=0, keepdims=True)}


def far_away(data: GaussianMixtureData, rng: np.random.Generator) -> dict[str, Any]:
    """An example 170 standard deviations from everything."""
    return {"examples": 170 * _unit(rng, data.centers.shape[1])[None]}


def with_alien(data: GaussianMixtureData, rng: np.random.Generator) -> dict[str, Any]:
    """Five members, and one sample 170 standard deviations from everything."""
    return {"examples": np.vstack([_members(data, 0, 5, rng), far_away(data, rng)["examples"]])}


def _unit(rng: np.random.Generator, n_features: int) -> Array:
    drawn = rng.standard_normal(n_features)
    return drawn / np.linalg.norm(drawn)


def outliers(n: int, distance: float) -> Change:
    """Replace samples by outliers at this distance, each in a random direction."""

    def change(data: GaussianMixtureData, rng: np.random.Generator) -> GaussianMixtureData:
        X = data.X.copy()
        for row in rng.choice(len(X), n, replace=False):
            X[row] = distance * _unit(rng, X.shape[1])
        return replace(data, X=X)

    return change


def constant_columns(data: GaussianMixtureData, rng: np.random.Generator) -> GaussianMixtureData:
    return _with_columns(data, np.full((len(data.X), 20), 3.0), np.full((K, 20), 3.0))


def nearly_constant_columns(data: GaussianMixtureData, rng: np.random.Generator) -> GaussianMixtureData:
    return _with_columns(data, 3.0 + 1e-3 * rng.standard_normal((len(data.X), 20)), np.full((K, 20), 3.0))


def duplicated_columns(data: GaussianMixtureData, rng: np.random.Generator) -> GaussianMixtureData:
    """Ten columns twice: their directions have twice the variance, that of all is a third larger on average."""
    twice = _with_columns(data, data.X[:, :10], data.centers[:, :10])
    return replace(twice, deviations=data.deviations * np.sqrt(4 / 3))


def _with_columns(data: GaussianMixtureData, columns: Array, centers: Array) -> GaussianMixtureData:
    return replace(data, X=np.hstack([data.X, columns]), centers=np.hstack([data.centers, centers]))


def elongated(data: GaussianMixtureData, rng: np.random.Generator) -> GaussianMixtureData:
    """Stretch clusters to three times their width, each in a random direction."""
    n_features = data.centers.shape[1]
    axes = np.array([_unit(rng, n_features) for _ in data.centers])[data.labels]
    along = np.einsum("ij,ij->i", data.X - data.centers[data.labels], axes)
    mean_variance = data.deviations**2 * (n_features + 8) / n_features
    return replace(data, X=data.X + 2 * along[:, None] * axes, deviations=np.sqrt(mean_variance))


def heavy_tails(data: GaussianMixtureData, rng: np.random.Generator) -> GaussianMixtureData:
    """Student's t with four degrees of freedom, with the variance of the normal noise."""
    noise = data.X - data.centers[data.labels]
    return replace(data, X=data.centers[data.labels] + noise / np.sqrt(rng.chisquare(4, (len(noise), 1)) / 2))


def pure_noise(data: GaussianMixtureData, rng: np.random.Generator) -> GaussianMixtureData:
    return replace(data, X=data.X - data.centers[data.labels])


def _clean_cases() -> dict[str, GaussianCase]:
    hints = {"direction": direction, **{f"examples, {q}": examples(*[0] * q) for q in (1, 3, 6)}}
    cases = {}
    for suffix, refine in {"": False, ", refined": True}.items():
        for name, hint in hints.items():
            cases[f"{name}{suffix}"] = GaussianCase(hint, refine=refine)
        for ratio, deviation in DEVIATIONS.items():
            for name in ("direction", "examples, 3"):
                cases[f"{name}, variances 1:{ratio}{suffix}"] = GaussianCase(
                    hints[name], deviation=deviation, refine=refine
                )
    return cases


THREE = examples(0, 0, 0)
# Where one sample matters: few features, and centers near to each other.
SMALL: dict[str, Any] = {"n_samples": 6_000, "n_features": 10, "norm": 4.0}
CASES: dict[str, GaussianCase] = {
    **_clean_cases(),
    "direction orthogonal to all centers": GaussianCase(orthogonal, has_answer=False),
    "direction orthogonal to all centers, refined": GaussianCase(orthogonal, refine=True, has_answer=False),
    "direction at random, d=500": GaussianCase(any_direction, n_features=500, target=None),
    "direction at random, d=500, refined": GaussianCase(any_direction, n_features=500, target=None, refine=True),
    "direction with a tie": GaussianCase(tie, has_answer=False),
    "direction with a tie, refined": GaussianCase(tie, refine=True, has_answer=False),
    "example halfway between two centers": GaussianCase(halfway, has_answer=False),
    "3 examples of one, 3 of another": GaussianCase(examples(0, 0, 0, 1, 1, 1), has_answer=False),
    "3 examples of one, 3 of another, refined": GaussianCase(examples(0, 0, 0, 1, 1, 1), refine=True, has_answer=False),
    "5 examples of one, 1 of another": GaussianCase(examples(0, 0, 0, 0, 0, 1), has_answer=False),
    "example 170 σ away": GaussianCase(far_away, has_answer=False),
    "example 170 σ away, refined": GaussianCase(far_away, refine=True, has_answer=False),
    "5 examples, 1 more 170 σ away": GaussianCase(with_alien, has_answer=False),
    "example of a component of weight .2 %": GaussianCase(fresh_member, weights=RARE, target=3),
    "example of a component of weight .2 %, refined": GaussianCase(fresh_member, weights=RARE, target=3, refine=True),
    "1 outlier of 30 σ among 6,000": GaussianCase(THREE, change=outliers(1, 30.0), **SMALL),
    "1 outlier of 30 σ among 6,000, refined": GaussianCase(THREE, change=outliers(1, 30.0), refine=True, **SMALL),
    "30 outliers of 30 σ among 6,000": GaussianCase(THREE, change=outliers(30, 30.0), **SMALL),
    "30 outliers of 30 σ among 6,000, refined": GaussianCase(THREE, change=outliers(30, 30.0), refine=True, **SMALL),
    "20 constant columns": GaussianCase(THREE, change=constant_columns),
    "20 constant columns, refined": GaussianCase(THREE, change=constant_columns, refine=True),
    "20 nearly constant columns": GaussianCase(THREE, change=nearly_constant_columns),
    "10 columns twice": GaussianCase(THREE, change=duplicated_columns),
    "k=2 for 4 components": GaussianCase(THREE, n_components=2),
    "k=2 for 4 components, refined": GaussianCase(THREE, n_components=2, refine=True),
    "k=3 for 4 components": GaussianCase(THREE, n_components=3),
    "k=3 for 4 components, refined": GaussianCase(THREE, n_components=3, refine=True),
    "k=5 for 4 components": GaussianCase(THREE, n_components=5),
    "k=5 for 4 components, refined": GaussianCase(THREE, n_components=5, refine=True),
    "k='auto' for 4 components": GaussianCase(THREE, n_components="auto"),
    "k='auto' on pure noise": GaussianCase(any_direction, change=pure_noise, n_components="auto", has_answer=False),
    "k=4 on pure noise": GaussianCase(any_direction, change=pure_noise, has_answer=False),
    "k=5": "one in twenty wrong answers is a component whose split leaves nearly its own weight",
    "clusters three times as long as wide": GaussianCase(THREE, change=elongated),
    "clusters three times as long as wide, refined": GaussianCase(THREE, change=elongated, refine=True),
    "clusters three times as long as wide, k='auto'": GaussianCase(THREE, change=elongated, n_components="auto"),
    "noise with heavy tails (t, 4 degrees)": GaussianCase(THREE, change=heavy_tails),
    "noise with heavy tails, refined": GaussianCase(THREE, change=heavy_tails, refine=True),
}
# Why a row cannot hold.
REASONS = {
    "direction at random": "its leads are small, and one with a confidence below .99 is doubted, right or not",
    "example of a component of weight": "six samples of 3,000 are too few to be told from noise in most runs",
    "10 columns twice": "the noise has twice the variance in ten directions: the doubt about the model is right",
    "k=2": "with too few components, whether a component stands for several is seen with errors of its own",
    "k=3": "with too few components, whether a component stands for several is seen with errors of its own",
    "clusters three times": "the model is wrong: the doubt about it is right, and right answers are luck",
    "noise with heavy tails": "the model is wrong: the doubt about it is right, and right answers are luck",
}
