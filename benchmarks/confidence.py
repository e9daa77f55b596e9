"""Whether the confidence of an answer is the share of right answers, with hints from useless to clear.

Every run draws a mixture and searches once. A direction has a strength γ that is drawn around the one at which the
component of the hint and the best other one tie, from below to above, every lead over the other as often; right is an
answer that is nearest to the component of which the hint, taken exactly, says most. Examples are members of the
component of a sample drawn at random, in mixtures from distinct to overlapping; right is an answer that is nearest to
it. Regressions must also be less than halfway to any other one. Runs are sorted into tenths by the confidence that they
report; in each the mean confidence and the share of right answers should agree. "Chance" is the deviation that chance
alone gives that share. A tenth fails if they differ by more than .05 and by more than 2.5 of these deviations: with
1,000 runs, chance alone does so in 2 % of tenths.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from measuring import print_table, run_seeds
from scipy.optimize import brentq
from trust_question import is_recognised
from workloads import draw_regressions, draw_subspaces

from mixsearch import GaussianSearch, RegressionSearch, SubspaceSearch, TopicSearch
from mixsearch._typing import Array
from mixsearch.datasets import make_gaussian_mixture, make_hint, make_topics

N_RUNS = 1000
LIMIT = 0.05
MAX_DEVIATIONS = 2.5
# Tenths with fewer of the runs are shown, but not judged.
MIN_JUDGED = 0.02
# Range of the logarithm of γ/(1-γ) in which the tie is looked for.
MAX_LOG_ODDS = (-6.0, 10.0)

Ask = Callable[[np.random.Generator, int], "Answer"]


class Answer(NamedTuple):
    """How sure an answer was, and whether it was right."""

    confidence: float
    right: bool


class Summary(NamedTuple):
    """All runs of one model."""

    name: str
    n_tenths: int
    largest_gap: float
    confidence: float
    right: float
    n_failed: int


# Standard deviations of the components relative to each other.
GAUSSIANS = {"equal": (1.0, 1.0, 1.0, 1.0), "unequal": (0.5, 0.7, 1.0, 1.4)}
NOISES = {"equal": (1.0, 1.0, 1.0), "unequal": (0.4, 1.0, 2.0)}
SCALES = {"equal": ((1.0, 1.0),) * 3, "unequal": ((1.7, 1.0), (1.0, 0.7), (1.4, 1.4))}


def gaussian(rng: np.random.Generator, seed: int, *, variances: str, n_examples: int, refine: bool) -> Answer:
    low, high = {0: (1.0, 1.0), 1: (0.8, 1.8), 3: (1.2, 2.4)}[n_examples]
    deviation = rng.uniform(low, high) * np.array(GAUSSIANS[variances])
    data = make_gaussian_mixture(1_000, 20, 4, deviation=deviation, norm=3.0, random_state=seed)
    search = GaussianSearch(4).fit(data.X)
    if n_examples:
        rows, label = _members(data.labels, n_examples, rng)
        return _answer(search.search(examples=data.X[rows], refine=refine), data.centers, label)
    hint = _hint(data.centers, _scores, 0.8, rng, seed)
    return _answer(search.search(hint, refine=refine), data.centers, int(np.argmax(data.centers @ hint)))


def regression(rng: np.random.Generator, seed: int, *, variances: str, n_examples: int, refine: bool) -> Answer:
    scale = rng.uniform(0.1, 0.8) if n_examples else 0.2
    deviations = tuple(scale * np.array(NOISES[variances]))
    data = draw_regressions(5_000, 6, deviations, seed=seed)
    search = RegressionSearch(3).fit(data.X, data.y)
    if n_examples:
        rows, label = _members(data.labels, n_examples, rng)
        return _recognised(search.search(examples=(data.X[rows], data.y[rows]), refine=refine), data.centers, label)
    hint = _hint(data.centers, _scores, 0.1 if refine else 1.0, rng, seed)
    return _recognised(search.search(hint, refine=refine), data.centers, int(np.argmax(data.centers @ hint)))


def subspace(rng: np.random.Generator, seed: int, *, variances: str, n_examples: int, refine: bool) -> Answer:
    noise = rng.uniform(0.2, 0.6) if n_examples else 0.3
    data = draw_subspaces(2_000, 20, SCALES[variances], (noise,) * 3, seed=seed)
    search = SubspaceSearch(3, dim=2).fit(data.X)
    if n_examples:
        rows, label = _members(data.labels, n_examples, rng)
        found = search.search(examples=data.X[rows], refine=refine)
    else:
        hint = _hint(data.bases, _projections, 0.4, rng, seed)
        found, label = search.search(hint, refine=refine), int(np.argmax(_projections(data.bases, hint)))
    captured = np.linalg.norm(np.einsum("kdr,ds->krs", data.bases, found.basis), axis=(1, 2))
    return Answer(found.confidence, int(captured.argmax()) == label)


def topic(rng: np.random.Generator, seed: int, *, by: str, refine: bool) -> Answer:
    data = make_topics(500, 60, 4, mean_length=30, alpha=0.2, concentration=0.5, random_state=seed)
    search = TopicSearch(4, alpha0=0.8, damping=False).fit(data.counts)
    if by == "word":
        word = int(rng.choice(np.argsort(-data.topics.mean(axis=0))[:30]))
        found, scores = search.search(words=word, refine=refine, choose="largest"), data.topics[:, word]
    else:
        hint = _hint(data.topics, _scores, 0.4, rng, seed)
        found, scores = search.search(hint, refine=refine, choose="largest"), data.topics @ hint
    return _answer(found, data.topics, int(np.argmax(scores)))


def _scores(centers: Array, hint: Array) -> Array:
    return np.asarray(centers @ hint)


def _projections(bases: Array, hint: Array) -> Array:
    """Return how much of the hint each subspace contains, (k,)."""
    return np.asarray(np.linalg.norm(hint @ bases, axis=1))


def _hint(
    parameters: Array, scores: Callable[[Array, Array], Array], spread: float, rng: np.random.Generator, seed: int
) -> Array:
    """Make a hint for the first component, slightly stronger or weaker than a tie with another one."""

    def make(log_odds: float) -> Array:
        return make_hint(parameters, 0, gamma=1 / (1 + np.exp(-log_odds)), random_state=seed)

    def lead(log_odds: float) -> float:
        own, *others = scores(parameters, make(log_odds))
        return float(own - max(others))

    # Where the first component leads at any strength, there is no tie to be near to.
    tie = brentq(lead, *MAX_LOG_ODDS) if lead(MAX_LOG_ODDS[0]) < 0 else MAX_LOG_ODDS[0]
    return make(tie + rng.uniform(-spread, spread))


def _members(labels: Array, n: int, rng: np.random.Generator) -> tuple[Array, int]:
    """Rows of members of one component, which is drawn by its weight, and its label."""
    label = int(rng.choice(labels))
    return rng.choice(np.flatnonzero(labels == label), n, replace=False), label


def _answer(found: Any, truth: Array, label: int) -> Answer:
    nearest = np.linalg.norm(truth - found.center, axis=1).argmin()
    return Answer(found.confidence, bool(nearest == label))


def _recognised(found: Any, truth: Array, label: int) -> Answer:
    """Return an answer that is right if it is less than halfway to any other component."""
    return Answer(found.confidence, is_recognised(found.center, truth, label))


def _models() -> Iterator[tuple[str, Ask]]:
    hints = {"direction": 0, "one example": 1, "three examples": 3}
    families: dict[str, tuple[Callable[..., Answer], tuple[str, ...]]] = {
        "Gaussians": (gaussian, ("direction", "one example", "three examples")),
        "regressions": (regression, ("direction", "three examples")),
        "subspaces": (subspace, ("direction", "one example")),
    }
    for suffix, refine in {"": False, ", refined": True}.items():
        for family, (ask, names) in families.items():
            for name in names:
                for variances in ("equal", "unequal"):
                    options = {"variances": variances, "n_examples": hints[name], "refine": refine}
                    yield f"{family}, {name}, {variances} variances{suffix}", partial(ask, **options)
        for by in ("word", "direction"):
            yield f"topics, {by}{suffix}", partial(topic, by=by, refine=refine)


MODELS: dict[str, Ask] = dict(sorted(_models()))


def run(*, quick: bool = False, only: str = "", runs: int = N_RUNS) -> None:
    n_runs = 20 if quick else runs
    summaries = [
        _print_tenths(f"{name}; {n_runs} runs", run_seeds(partial(_one_run, ask), n_runs))
        for name, ask in MODELS.items()
        if only in name
    ]
    columns = ("model", "tenths", "largest gap", "mean confidence", "right", "failed tenths", "verdict")
    print_table(f"Calibration in tenths within {LIMIT}", columns, [_summary_row(each) for each in summaries])


def _one_run(ask: Ask, seed: int) -> Answer:
    return ask(np.random.default_rng(seed), seed)


def _print_tenths(title: str, answers: list[Answer]) -> Summary:
    confidence, right = (np.array(each, dtype=float) for each in zip(*answers, strict=True))
    tenths = np.minimum((10 * confidence).astype(int), 9)
    rows, gaps, n_failed = [], [], 0
    for tenth in np.unique(tenths):
        own = tenths == tenth
        n, said, share = int(own.sum()), float(confidence[own].mean()), float(right[own].mean())
        chance = float(np.sqrt(said * (1 - said) / n))
        figures = (f"{said:.3f}", f"{share:.3f}", f"{share - said:+.3f}", f"{chance:.3f}")
        rows.append((f"{tenth / 10:.1f}-{(tenth + 1) / 10:.1f}", f"{n}", *figures))
        gaps.append(abs(share - said))
        n_failed += n >= MIN_JUDGED * len(answers) and gaps[-1] > max(LIMIT, MAX_DEVIATIONS * chance)
    print_table(title, ("confidence", "runs", "mean", "right", "gap", "chance"), rows)
    name = title.partition(";")[0]
    return Summary(name, len(rows), max(gaps), float(confidence.mean()), float(right.mean()), n_failed)


def _summary_row(summary: Summary) -> tuple[str, ...]:
    return (
        summary.name,
        f"{summary.n_tenths}",
        f"{summary.largest_gap:.3f}",
        f"{summary.confidence:.3f}",
        f"{summary.right:.3f}",
        f"{summary.n_failed}",
        "FAILS" if summary.n_failed else "holds",
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="models with this in their name")
    parser.add_argument("--runs", type=int, default=N_RUNS)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    run(quick=options.quick, only=options.only, runs=options.runs)
