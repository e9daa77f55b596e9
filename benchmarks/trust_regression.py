"""Cases of `trust.py` with regressions: searches for the first of three."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from trust_question import CENTER_LIMIT, Question, is_recognised, is_weight_right
from workloads import draw_regressions

from mixsearch import RegressionSearch
from mixsearch.datasets import make_hint
from mixsearch.datasets.mixtures import MixedRegressionData

GAMMA = 0.9
EQUAL, UNEQUAL = (0.2, 0.2, 0.2), (0.1, 0.4, 1.0)

Hint = Callable[[MixedRegressionData, np.random.Generator], dict[str, Any]]
Change = Callable[[MixedRegressionData, np.random.Generator], MixedRegressionData]


@dataclass(frozen=True)
class RegressionCase:
    """How samples are drawn and corrupted, and the hint for a regression.

    Right is what the confidence is about: coefficients less than halfway to those of any other regression. A refined
    answer must also have an error of at most three times that of least squares on as many samples with the largest
    noise, and a weight within five standard errors of the members' share.
    """

    hint: Hint
    deviations: tuple[float, ...] = EQUAL
    n_samples: int = 20_000
    change: Change = lambda data, rng: data
    n_components: int | Literal["auto"] = 3
    refine: bool | None = False  # None: as the search decides
    target: int = 0
    has_answer: bool = True

    def __call__(self, seed: int) -> Question:
        """Draw the samples and the hint."""
        rng = np.random.default_rng(seed)
        data = self.change(draw_regressions(self.n_samples, 10, self.deviations, seed=seed), rng)
        options = self.hint(data, rng) | ({} if self.refine is None else {"refine": self.refine})
        return Question(
            ask=lambda: RegressionSearch(self.n_components).fit(data.X, data.y).search(**options),
            is_right=lambda found: self._is_right(found, data),
            has_answer=self.has_answer,
        )

    def _is_right(self, found: Any, data: MixedRegressionData) -> bool:
        (n, d), weight = data.X.shape, data.weights[self.target]
        error = np.linalg.norm(found.center - data.centers[self.target])
        recognised = is_recognised(found.center, data.centers, self.target)
        if not self.refine:
            return recognised
        limit = CENTER_LIMIT * max(self.deviations) * np.sqrt(d / (n * weight))
        return recognised and bool(error <= limit) and is_weight_right(found.weight, weight, n)


def direction(data: MixedRegressionData, rng: np.random.Generator) -> dict[str, Any]:
    return {"hint": make_hint(data.centers, 0, gamma=GAMMA)}


def examples(*components: int) -> Hint:
    """Samples of the components given, drawn at random."""

    def draw(data: MixedRegressionData, rng: np.random.Generator) -> dict[str, Any]:
        rows = [rng.choice(np.flatnonzero(data.labels == component)) for component in components]
        return {"examples": (data.X[rows], data.y[rows])}

    return draw


def far_away(data: MixedRegressionData, rng: np.random.Generator) -> dict[str, Any]:
    """An example 170 standard deviations of the noise from every regression."""
    x = rng.standard_normal((1, data.X.shape[1]))
    return {"examples": (x, x @ data.centers[0] + 34.0)}


def with_alien(data: MixedRegressionData, rng: np.random.Generator) -> dict[str, Any]:
    """Five members, and one sample 170 standard deviations from every regression."""
    (X, y), (x, far) = examples(*[0] * 5)(data, rng)["examples"], far_away(data, rng)["examples"]
    return {"examples": (np.vstack([X, x]), np.concatenate([y, far]))}


def orthogonal(data: MixedRegressionData, rng: np.random.Generator) -> dict[str, Any]:
    """A direction orthogonal to all coefficients."""
    span, _ = np.linalg.qr(data.centers.T)
    drawn = rng.standard_normal(data.X.shape[1])
    return {"hint": drawn - span @ (span.T @ drawn)}


def tie(data: MixedRegressionData, rng: np.random.Generator) -> dict[str, Any]:
    """A direction with which two regressions agree equally, and the third not at all."""
    return {"hint": np.linalg.pinv(data.centers) @ np.array([1.0, 1.0, 0.0])}


def exponential(data: MixedRegressionData, rng: np.random.Generator) -> MixedRegressionData:
    """Features with an exponential distribution: moments need normal ones."""
    noise = data.y - np.einsum("ij,ij->i", data.X, data.centers[data.labels])
    X = rng.exponential(size=data.X.shape) - 1
    return replace(data, X=X, y=np.einsum("ij,ij->i", X, data.centers[data.labels]) + noise)


def intercepts(data: MixedRegressionData, rng: np.random.Generator) -> MixedRegressionData:
    drawn = rng.standard_normal(len(data.centers))
    return replace(data, y=data.y + drawn[data.labels], intercepts=drawn)


def outlying_response(data: MixedRegressionData, rng: np.random.Generator) -> MixedRegressionData:
    y = data.y.copy()
    y[rng.integers(len(y))] = 1_000.0
    return replace(data, y=y)


def outlying_sample(data: MixedRegressionData, rng: np.random.Generator) -> MixedRegressionData:
    X = data.X.copy()
    X[rng.integers(len(X))] *= 100
    return replace(data, X=X)


TEN = examples(*[0] * 10)
BOTH = examples(0, 0, 0, 1, 1, 1)
OF_NOISY = examples(*[2] * 10)
CASES: dict[str, RegressionCase] = {
    "direction": RegressionCase(direction),
    "direction, refined": RegressionCase(direction, refine=True, n_samples=5_000),
    "examples, 3, refined": RegressionCase(examples(0, 0, 0), refine=True, n_samples=5_000),
    "examples, 10": RegressionCase(TEN),
    "examples, 10, refined": RegressionCase(TEN, refine=True, n_samples=5_000),
    "examples, 10, intercepts": RegressionCase(TEN, change=intercepts),
    "examples, 10, noise 1:16:100": RegressionCase(OF_NOISY, UNEQUAL, 40_000, target=2),
    "examples, 10, noise 1:16:100, refined": RegressionCase(OF_NOISY, UNEQUAL, 10_000, target=2, refine=True),
    "direction, noise 1:16:100, refined": RegressionCase(direction, UNEQUAL, 10_000, refine=True),
    "direction orthogonal to all coefficients": RegressionCase(orthogonal, has_answer=False),
    "direction orthogonal to all coefficients, refined": RegressionCase(
        orthogonal, n_samples=5_000, refine=True, has_answer=False
    ),
    "direction with a tie": RegressionCase(tie, has_answer=False),
    "3 examples of one, 3 of another": RegressionCase(BOTH, has_answer=False),
    "3 examples of one, 3 of another, refined": RegressionCase(BOTH, n_samples=5_000, refine=True, has_answer=False),
    "example 170 σ away": RegressionCase(far_away, has_answer=False),
    "example 170 σ away, refined": RegressionCase(far_away, n_samples=5_000, refine=True, has_answer=False),
    "5 examples, 1 more 170 σ away": RegressionCase(with_alien, has_answer=False),
    "exponential X": RegressionCase(direction, change=exponential),
    "exponential X, refined if the search says so": RegressionCase(direction, change=exponential, refine=None),
    "1 response of 1,000 among 40,000": RegressionCase(direction, n_samples=40_000, change=outlying_response),
    "1 response of 1,000 among 40,000, refined": RegressionCase(
        direction, n_samples=40_000, change=outlying_response, refine=True
    ),
    "1 sample 100 times as long among 40,000": RegressionCase(direction, n_samples=40_000, change=outlying_sample),
    "k=2 for 3 regressions": RegressionCase(TEN, n_components=2),
    "k=2 for 3 regressions, refined": RegressionCase(TEN, n_samples=5_000, n_components=2, refine=True),
    "k=5 for 3 regressions": RegressionCase(direction, n_components=5),
    "k='auto' for 3 regressions": RegressionCase(TEN, n_components="auto"),
}
# Why a row cannot hold.
REASONS = {
    "3 examples of one": "where lines cross, three of their samples may lie near both",
    "examples, 3": "three samples may lie where two lines cross, or one of them 3 σ off, and are doubted though right",
    "exponential X": "moments do not apply: all answers say so, also those that are just less than halfway to another",
    "k=2": "an example 3 σ off its line, or weights of moments that do not sum to 1 without the third regression",
}
