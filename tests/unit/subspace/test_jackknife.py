import numpy as np
import pytest
import scipy.linalg
from numpy.testing import assert_allclose

from mixsearch import SubspaceSearch
from mixsearch.datasets import make_subspaces

pytestmark = pytest.mark.filterwarnings("ignore::mixsearch.WeakHintWarning")

data = make_subspaces(3000, 20, 3, dim=2, deviation=0.2, random_state=4)
hint = data.bases[0] @ [1, 1]
found = SubspaceSearch(3, dim=2).fit(data.X).search(hint, refine=True)


def rotate(basis, onto):
    return basis @ scipy.linalg.polar(basis.T @ onto)[0]


def test_standard_errors_are_the_spread_over_fresh_samples():
    small = make_subspaces(1000, 10, 2, dim=2, deviation=0.2, random_state=1)
    v, rng = small.bases[0] @ [1, 1], np.random.default_rng(0)
    answer = SubspaceSearch(2, dim=2).fit(small.X).search(v, refine=True)
    others = []
    for _ in range(40):
        labels = rng.choice(2, size=1000, p=small.weights)
        inside = np.einsum("nij,nj->ni", small.bases[labels], rng.normal(size=(1000, 2)))
        fresh = SubspaceSearch(2, dim=2).fit(inside + 0.2 * rng.normal(size=(1000, 10)))
        others.append(fresh.search(v, refine=True))
    for own, rest in ((answer, others), (answer.moment_estimate, [other.moment_estimate for other in others])):
        spread = np.std([rotate(other.basis, own.basis) for other in rest], axis=0)
        assert np.sqrt(np.mean(own.stderr.basis**2)) == pytest.approx(np.sqrt(np.mean(spread**2)), rel=0.25)
        assert own.stderr.weight == pytest.approx(np.std([other.weight for other in rest]), rel=0.4)


def test_the_weight_of_known_members_has_the_error_of_a_share():
    clear = make_subspaces(4000, 20, 2, dim=3, deviation=0.01, random_state=0)
    answer = SubspaceSearch(2, dim=3).fit(clear.X).search(examples=clear.X[clear.labels == 0][:6], refine=True)
    share = np.mean(clear.labels == 0)
    assert answer.stderr.weight == pytest.approx(np.sqrt(share * (1 - share) / 4000), rel=0.3)


def test_errors_of_moments_are_those_of_fits_without_a_group():
    few = make_subspaces(1200, 10, 2, dim=2, deviation=0.2, random_state=2)
    v = few.bases[0] @ [1, 1]
    answer = SubspaceSearch(2, dim=2).fit(few.X).search(v)
    without = [few.X[np.arange(1200) % 40 != group] for group in range(40)]
    bases = [rotate(SubspaceSearch(2, dim=2).fit(X).search(v).basis, answer.basis) for X in without]
    assert_allclose(answer.stderr.basis, np.sqrt(39 * np.var(bases, axis=0)), rtol=0.1)


def test_a_clear_hint_is_sure_and_one_between_two_subspaces_is_not():
    assert found.confidence > 0.99
    assert found.moment_estimate.confidence > 0.99
    tie = scipy.linalg.lstsq(np.vstack([data.bases[0].T, data.bases[1].T]), np.array([1.0, 0, 1, 0]))[0]
    between = SubspaceSearch(3, dim=2).fit(data.X).search(tie, refine=True)
    assert 0.02 < between.confidence < 0.98
