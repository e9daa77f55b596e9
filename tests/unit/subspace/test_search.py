import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.metrics import roc_auc_score

from mixsearch import SubspaceSearch
from mixsearch.datasets import make_subspaces
from mixsearch.errors import HintError

data = make_subspaces(8000, 30, 4, dim=3, deviation=0.2, random_state=1)
search = SubspaceSearch(4, dim=3).fit(data.X)


def gap(found, truth):
    return np.linalg.norm(found.basis @ found.basis.T - truth @ truth.T, 2)


@pytest.mark.parametrize("target", range(4))
def test_one_point_of_a_subspace_finds_it(target):
    found = search.search(data.bases[target] @ np.ones(3))
    assert gap(found, data.bases[target]) < 0.2
    assert_allclose(found.basis.T @ found.basis, np.eye(3), atol=1e-10)
    assert found.weight == pytest.approx(data.weights[target], rel=0.15)


@pytest.mark.filterwarnings("ignore::mixsearch.WeakHintWarning")
def test_several_samples_single_it_out_better_than_one():
    members = data.X[data.labels == 2]
    one = np.mean([search.search(sample).separation for sample in members[:20]])
    several = np.mean([search.search(examples=members[i : i + 6]).separation for i in range(20)])
    assert several > one


def test_the_alternatives_are_the_other_subspaces():
    found = search.search(examples=data.X[data.labels == 0][:8])
    nearest = [int(np.argmin([gap(other, truth) for truth in data.bases])) for other in found.alternatives]
    assert sorted(nearest) == [1, 2, 3]
    for other, truth in zip(found.alternatives, nearest, strict=True):
        assert gap(other, data.bases[truth]) < 0.3


def test_membership_tells_members_from_others():
    found = search.search(examples=data.X[data.labels == 3][:5])
    members = found.membership(data.X)
    assert roc_auc_score(data.labels == 3, members) > 0.97
    assert members.mean() == pytest.approx(data.weights[3], abs=0.05)


def test_a_point_outside_every_subspace_is_no_hint():
    flat = SubspaceSearch(1, dim=2).fit(np.random.default_rng(0).normal(size=(100, 2)) @ np.eye(2, 4))
    with pytest.raises(HintError, match="orthogonal to every subspace"):
        flat.search([0.0, 0, 0, 1])


def test_noise_is_the_average_of_the_noise_eigenvalues():
    assert search.noise_variance_ == pytest.approx(0.04, rel=0.03)
    assert SubspaceSearch(4, dim=3, preset="paper").fit(data.X).noise_variance_ > search.noise_variance_


def test_the_answer_reads_well():
    text = repr(search.search(data.bases[0][:, 0]))
    assert text.startswith("Subspace of dimension 3 in 30 features")
    assert "direction 4 (outside)" in text


def test_shares_of_all_subspaces_add_up_and_alternatives_fall_behind():
    found = search.search(examples=data.X[data.labels == 0][:8])
    family = (found, *found.alternatives)
    assert sum(part.share for part in family) == pytest.approx(1)
    assert sum(part.weight for part in family) == pytest.approx(1)
    assert all(other.separation < 1 for other in found.alternatives)
    assert len(found.alternatives[0].alternatives) == 3


@pytest.mark.parametrize("scale", [1e-6, 3.0, 1e6])
def test_the_scale_of_the_samples_does_not_matter(scale):
    sample = data.X[data.labels == 3][:5]
    plain = search.search(examples=sample)
    scaled = SubspaceSearch(4, dim=3).fit(scale * data.X).search(examples=scale * sample)
    assert scaled.weight == pytest.approx(plain.weight)
    assert_allclose(scaled.membership(scale * data.X), plain.membership(data.X), atol=1e-6)


def test_a_point_nearly_outside_every_subspace_is_no_hint():
    v = np.random.default_rng(0).normal(size=30)
    basis = search._family.frame.basis
    with pytest.raises(HintError, match="orthogonal to every subspace"):
        search.search(v - basis @ (basis.T @ v))


def test_the_dimension_of_a_fit_is_that_of_the_fit():
    fitted = SubspaceSearch(4, dim=3).fit(data.X).set_params(dim=2)
    assert fitted.n_components_ == 4
    assert fitted.search(data.bases[0][:, 0]).basis.shape == (30, 3)


def test_all_samples_belong_to_the_only_subspace():
    one = data.X[data.labels == 0]
    assert_allclose(SubspaceSearch(1, dim=3).fit(one).search(one[0]).membership(one), 1)
