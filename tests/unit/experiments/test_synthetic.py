import warnings

import numpy as np
import pytest

from mixsearch.datasets import make_gaussian_mixture, make_subspaces
from mixsearch.experiments import Case, Experiment, Row, Rows, find_experiments
from mixsearch.experiments._rehint import make_lead_hint
from mixsearch.experiments._subspaces import compute_distance

pytestmark = pytest.mark.slow

# Small and easy enough that every method has to find its component.
EASY = {
    "gmm-error": {"moments": "our", "sigma": 0.1, "n": 800},
    "gmm-rare": {"moments": "our", "sigma": 0.05, "n": 1500},
    "gmm-speedup": {"moments": "our", "sigma": 0.1, "n": 800, "k": 4},
    "lda-error": {"moments": "our", "length": 200, "n": 800},
    "subspace-error": {"moments": "our", "sigma": 0.01, "n": 1500},
    "subspace-speedup": {"moments": "our", "sigma": 0.01, "n": 1500},
    "gmm-sensitivity": {"moments": "our", "sigma": 0.1, "n": 1500},
    "regression-error": {"sigma": 0.01, "n": 3000},
    "theory": {"quantity": "delta"},
    "hints": {"k": 5},
    "parallel": {"k": 5, "n": 4000},
    "solvers": {"sigma": 0.5},
    "rehint": {"family": "subspaces"},
    "labels": {"family": "Gaussians", "d": 50},
}


def run(experiment: Experiment, setting: dict[str, object]) -> Rows:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        results = list(experiment.run(Case(setting, 0)))
    return Rows(
        Row(experiment.name, setting, 0, each.method, each.metric, each.target, each.value, each.note, "1", False)
        for each in results
    )


@pytest.mark.parametrize("name", EASY)
def test_a_case_runs_and_its_rows_alone_make_a_figure_and_a_table(name: str) -> None:
    (experiment,) = find_experiments([name])
    rows = run(experiment, EASY[name])
    assert np.isfinite(rows.values).all()
    assert set(EASY[name]) == set(experiment.cases(True)[0].setting)
    assert experiment.draw(rows).axes
    assert experiment.table(rows).count("\n") >= 3


@pytest.mark.parametrize("name", ["gmm-error", "lda-error", "subspace-error", "regression-error"])
def test_refined_answers_come_within_a_fifth_of_the_oracle_on_easy_mixtures(name: str) -> None:
    (experiment,) = find_experiments([name])
    rows = run(experiment, EASY[name]).where(metric="error")
    assert rows.where(method="refined").mean < 1.2 * rows.where(method="oracle").mean


@pytest.mark.parametrize(
    "setting", [("Gaussians", 60), ("regressions", 10), ("subspaces", 60), ("topics", 100)], ids=str
)
def test_one_label_with_unlabeled_samples_does_better_than_twenty_labels(setting: tuple[str, int]) -> None:
    (experiment,) = find_experiments(["labels"])
    rows = run(experiment, dict(zip(("family", "d"), setting, strict=True)))
    one, alone = (rows.where(target=n, method=m).mean for n, m in (("1", "refined"), ("20", "labels alone")))
    assert one < 0.5 * alone
    assert one < 1.6 * rows.where(target="1", method="oracle").mean
    assert "nan" not in experiment.table(rows)


def test_moments_of_the_authors_gain_more_over_their_tensor_power_method() -> None:
    (experiment,) = find_experiments(["gmm-error"])
    gains = {}
    for choice in ("paper's", "authors'"):
        rows = run(experiment, {"moments": choice, "sigma": 0.5, "n": 4000})
        gains[choice] = 1 - rows.where(method="whitening").mean / rows.where(method="TPM").mean
    assert gains["authors'"] > 0.2
    assert gains["authors'"] > 2 * gains["paper's"]


@pytest.mark.parametrize("family", ["Gaussians", "topics", "subspaces"])
def test_the_strength_of_a_hint_does_not_matter_after_a_second_contraction(family: str) -> None:
    (experiment,) = find_experiments(["rehint"])
    rows = run(experiment, {"family": family}).where(method="whitening, again")
    weak, strong = (rows.where(target=lead).mean for lead in ("1.05", "5"))
    assert weak == pytest.approx(strong, rel=0.03)


@pytest.mark.parametrize("ratio", [1.05, 1.5, 5.0])
def test_a_hint_has_the_ratio_of_scores_that_it_is_asked_for(ratio: float) -> None:
    centers = make_gaussian_mixture(10, 60, 8, random_state=0).centers
    scores = centers @ make_lead_hint(centers, ratio, 0)
    assert scores[0] / scores[1:].max() == pytest.approx(ratio)


def test_the_distance_of_subspaces_is_the_norm_of_the_difference_of_projections() -> None:
    one, other = make_subspaces(5, 9, 2, dim=3, random_state=0).bases
    expected = np.linalg.norm(one @ one.T - other @ other.T, 2)
    assert compute_distance(one, other) == pytest.approx(expected)
    assert compute_distance(one, one) == pytest.approx(0, abs=1e-7)
