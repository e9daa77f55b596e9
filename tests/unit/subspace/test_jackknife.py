import numpy as np
import pytest
import scipy.linalg
from numpy.testing import assert_allclose

from mixsearch import SubspaceSearch
from mixsearch.datasets import make_subspaces

pytestmark = pytest.mark.filterwarnings("ignore::mixsearch.WeakHintWarning")


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


def test_errors_of_moments_are_those_of_fits_without_a_group():
    few = make_subspaces(1200, 10, 2, dim=2, deviation=0.2, random_state=2)
    v = few.bases[0] @ [1, 1]
    answer = SubspaceSearch(2, dim=2).fit(few.X).search(v)
    without = [few.X[np.arange(1200) % 40 != group] for group in range(40)]
    bases = [rotate(SubspaceSearch(2, dim=2).fit(X).search(v).basis, answer.basis) for X in without]
    assert_allclose(answer.stderr.basis, np.sqrt(39 * np.var(bases, axis=0)), rtol=0.1)
