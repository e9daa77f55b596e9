"""Whether the confidence of an answer is the share of right answers, with hints from useless to clear.

Every run draws a mixture and asks once, with a hint of a strength γ that is drawn around the one at which the hint's
component and the best other one tie, from below to above, every lead over the other as often. Right is an answer that
is nearest to the component of which the hint, taken exactly, says most. Runs are sorted into tenths by the confidence
that they report; in each the mean confidence and the share of right answers should agree. The last column is the
deviation that chance alone gives that share: a tenth with few runs says little.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from measuring import N_THREADS, print_table
from threadpoolctl import threadpool_limits

from mixsearch import GaussianSearch, RegressionSearch, SubspaceSearch, TopicSearch
from mixsearch._typing import Array
from mixsearch.datasets import make_gaussian_mixture, make_hint, make_mixed_regression, make_subspaces, make_topics

N_RUNS = 1000
LIMIT = 0.07
# A tenth with fewer runs has a share that chance moves by more than the limit.
ENOUGH = 50
K = 5
# The ratio √γ/√(1-γ) where the component leads at any strength.
LEAST_TIE = 0.1


class Answer(NamedTuple):
    """How sure an answer was, and whether it was right."""

    confidence: float
    right: bool


def gaussian(seed: int, strength: float) -> Answer:
    data = make_gaussian_mixture(1_000, 20, K, deviation=1.0, norm=3.0, random_state=seed)
    hint = _hint(data.centers, strength, seed, spread=1.0)
    found = GaussianSearch(K).fit(data.X).search(hint)
    return _answer(found, data.centers, data.centers @ hint)


def gaussian_example(seed: int, strength: float) -> Answer:
    data = make_gaussian_mixture(2_000, 20, K, deviation=1.5 - strength, norm=3.0, random_state=seed)
    found = GaussianSearch(K).fit(data.X).search(examples=data.X[data.labels == 0][:1])
    return _answer(found, data.centers, np.eye(K)[0])


def regression(seed: int, strength: float) -> Answer:
    data = make_mixed_regression(20_000, 10, 3, deviation=0.2, random_state=seed)
    hint = _hint(data.centers, strength, seed, spread=1.0)
    found = RegressionSearch(3).fit(data.X, data.y).search(hint)
    return _answer(found, data.centers, data.centers @ hint)


def subspace(seed: int, strength: float) -> Answer:
    """Without a tie: a subspace needs three times the hint that others have, whatever they share among them."""
    data = make_subspaces(4_000, 40, 3, dim=2, deviation=0.3, random_state=seed)
    hint = make_hint(data.bases, 0, gamma=0.65 + 0.15 * strength, random_state=seed)
    found = SubspaceSearch(3, dim=2).fit(data.X).search(hint)
    captured = np.linalg.norm(np.einsum("kdr,ds->krs", data.bases, found.basis), axis=(1, 2))
    told = np.linalg.norm(hint @ data.bases, axis=1)
    return Answer(found.confidence, bool(captured.argmax() == told.argmax()))


def topic(seed: int, strength: float) -> Answer:
    data = make_topics(1_000, 60, K, mean_length=40, alpha=0.2, random_state=seed)
    hint = _hint(data.topics, strength, seed, spread=1.0)
    found = TopicSearch(K, alpha0=1.0, damping=False).fit(data.counts).search(hint, choose="largest")
    return _answer(found, data.topics, data.topics @ hint)


def _hint(parameters: Array, strength: float, seed: int, spread: float) -> Array:
    """A hint for the first component, stronger or weaker than one that says as much of another."""
    others, own = (make_hint(parameters, 0, gamma=gamma, random_state=seed) for gamma in (1e-12, 1.0))
    scores = parameters @ others
    tie = max(float(scores[1:].max() - scores[0]) / float(parameters[0] @ own), LEAST_TIE)
    odds = tie**2 * np.exp(spread * (2 * strength - 1))
    return make_hint(parameters, 0, gamma=odds / (1 + odds), random_state=seed)


def _answer(found: Any, truth: Array, scores: Array) -> Answer:
    nearest = np.linalg.norm(truth - found.center, axis=1).argmin()
    return Answer(found.confidence, bool(nearest == scores.argmax()))


MODELS: dict[str, Callable[[int, float], Answer]] = {
    "Gaussians, a direction": gaussian,
    "Gaussians, one example": gaussian_example,
    "regressions": regression,
    "subspaces": subspace,
    "topics": topic,
}


def run(*, quick: bool = False, only: str = "") -> None:
    n_runs = 40 if quick else N_RUNS
    for name, ask in MODELS.items():
        if only in name:
            strengths = np.random.default_rng(0).random(n_runs)
            with Parallel(n_jobs=N_THREADS) as parallel:
                jobs = (delayed(_one_run)(ask, seed, float(strength)) for seed, strength in enumerate(strengths))
                _print_tenths(f"{name}; {n_runs} runs", parallel(jobs))


def _one_run(ask: Callable[[int, float], Answer], seed: int, strength: float) -> Answer:
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return ask(seed, strength)


def _print_tenths(title: str, answers: list[Answer]) -> None:
    confidence, right = (np.array(each, dtype=float) for each in zip(*answers, strict=True))
    tenths = np.minimum((10 * confidence).astype(int), 9)
    rows, gaps = [], []
    for tenth in range(10):
        own = tenths == tenth
        n, said = int(own.sum()), float(confidence[own].mean()) if own.any() else float("nan")
        if n:
            share = float(right[own].mean())
            chance = np.sqrt(said * (1 - said) / n)
            figures = (f"{said:.3f}", f"{share:.3f}", f"{share - said:+.3f}", f"{chance:.3f}")
            rows.append((f"{tenth / 10:.1f}-{(tenth + 1) / 10:.1f}", f"{n}", *figures))
            gaps += [abs(share - said)] if n >= ENOUGH else []
    print_table(title, ("confidence", "runs", "mean", "right", "gap", "chance"), rows)
    print(f"\n- over all runs: confidence {confidence.mean():.3f}, right {right.mean():.3f}")
    print(
        f"- tenths with at least {ENOUGH} runs: {len(gaps)} of {len(rows)}; gaps of more than {LIMIT} among them: "
        f"{sum(gap > LIMIT for gap in gaps)}, largest {max(gaps, default=float('nan')):.3f}; fewer runs judge nothing"
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="models with this in their name")
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    run(quick=options.quick, only=options.only)
