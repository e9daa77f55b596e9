import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.metrics import roc_auc_score
from tests.coded import raises

from mixsearch import SubspaceSearch
from mixsearch.datasets import make_subspaces
from mixsearch.errors import WeakHintWarning

data = make_subspaces(8000, 30, 4, dim=3, deviation=0.2, random_state=1)
search = SubspaceSearch(4, dim=3).fit(data.X)


def gap(found, truth):
    return np.linalg.norm(found.basis @ found.basis.T - truth @ truth.T, 2)


@pytest.mark.parametrize("target", [0, 3])
def test_one_point_of_a_subspace_finds_it(target):
    found = search.search(data.bases[target] @ np.ones(3))
    assert gap(found, data.bases[target]) < 0.2
    assert_allclose(found.basis.T @ found.basis, np.eye(3), atol=1e-10)
    assert found.weight == pytest.approx(data.weights[target], rel=0.15)


def test_membership_separates_members_from_others():
    found = search.search(examples=data.X[data.labels == 3][:5])
    membership = found.membership(data.X)
    assert roc_auc_score(data.labels == 3, membership) > 0.97
    assert membership.mean() == pytest.approx(data.weights[3], abs=0.05)


def test_a_point_outside_every_subspace_is_no_hint():
    flat = SubspaceSearch(1, dim=2).fit(np.random.default_rng(0).normal(size=(100, 2)) @ np.eye(2, 4))
    with raises("hint_orthogonal"):
        flat.search([0.0, 0, 0, 1])


def test_shares_of_all_subspaces_add_up_and_alternatives_fall_behind():
    found = search.search(examples=data.X[data.labels == 0][:8])
    subspaces = (found, *found.alternatives)
    assert sum(each.share for each in subspaces) == pytest.approx(1)
    assert sum(each.weight for each in subspaces) == pytest.approx(1, abs=0.05)
    assert all(other.separation < 1 for other in found.alternatives)
    assert len(found.alternatives[0].alternatives) == 3


@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_the_scale_of_the_samples_does_not_matter(scale):
    sample = data.X[data.labels == 3][:5]
    plain = search.search(examples=sample)
    scaled = SubspaceSearch(4, dim=3).fit(scale * data.X).search(examples=scale * sample)
    assert scaled.weight == pytest.approx(plain.weight)
    assert_allclose(scaled.membership(scale * data.X), plain.membership(data.X), atol=1e-6)


def point_with_projections(*projections):
    """Make a point with given squared projections onto the first subspaces, and none onto the others."""
    along = np.zeros((4, 3))
    along[: len(projections)] = np.sqrt(projections)[:, None] * [0.6, 0, 0.8]
    return np.linalg.lstsq(np.hstack(list(data.bases)).T, along.ravel(), rcond=None)[0]


@pytest.mark.parametrize(("share", "order"), [(0.4, (0, 1)), (0.8, (1, 0))])
def test_the_subspace_is_found_whatever_another_one_contains_of_the_hint(share, order):
    projections = [1.0, share] if order == (0, 1) else [share, 1.0]
    found = search.search(point_with_projections(*projections))
    assert gap(found, data.bases[order[0]]) < 0.2
    assert_allclose(found.scores[:2], [1, share], atol=0.1)
    assert found.separation == pytest.approx(1 / share, rel=0.15)
    assert gap(found.alternatives[0], data.bases[order[1]]) < 0.3


def test_the_printed_algorithm_needs_three_times_as_much_of_the_hint_as_others_have():
    printed = SubspaceSearch(4, dim=3, preset="paper").fit(data.X)
    assert gap(printed.search(point_with_projections(1.0, 0.1)), data.bases[0]) < 0.3
    assert gap(printed.search(point_with_projections(1.0, 0.6)), data.bases[0]) > 0.7


def test_separation_falls_as_the_hint_gets_worse_and_its_interval_contains_the_truth():
    answers = [search.search(point_with_projections(1.0, share)) for share in (0.2, 0.4, 0.6, 0.8)]
    separations = [found.separation for found in answers]
    assert separations == sorted(separations, reverse=True)
    low, high = answers[2].separation_interval
    assert low < 1 / 0.6 < high
    assert high < 1.3 * low


def test_a_tie_is_weak_and_has_an_interval_around_one():
    with pytest.warns(WeakHintWarning):
        found = search.search(point_with_projections(1.0, 1.0))
    assert found.warnings[0].code == "weak_hint"
    low, high = found.separation_interval
    assert low < 1 < high


def test_subspaces_are_counted():
    X = make_subspaces(1500, 30, 4, dim=3, random_state=0).X
    search = SubspaceSearch("auto", dim=3).fit(X)
    assert (search.n_components_, search.spectrum_.n_signal) == (4, 12)
