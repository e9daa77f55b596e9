"""Samples off the origin, and samples far from all others."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from tests.coded import warns

from mixsearch import SubspaceSearch
from mixsearch.core.moments import measure_samples
from mixsearch.core.rows import chunk_in_memory
from mixsearch.datasets import make_subspaces
from mixsearch.subspace import find_subspace_members, off_origin_p_value

data = make_subspaces(4000, 20, 3, dim=2, deviation=0.3, random_state=0)
offset = np.random.default_rng(1).standard_normal(20)
members = data.labels == 0
middle = data.X.mean(axis=0)


def gap(one, other):
    return np.linalg.norm(one @ one.T - other @ other.T, 2)


def fit_shifted(X=None, **options):
    return SubspaceSearch(3, dim=2, **options).fit(data.X + offset if X is None else X)


def test_the_mean_of_subspaces_through_zero_is_rarely_called_off_the_origin():
    rng = np.random.default_rng(2)
    p_values = []
    for _ in range(200):
        X = rng.standard_normal((300, 6)) * [3, 1, 1, 0.5, 0.2, 0.1]
        p_values.append(off_origin_p_value(measure_samples(chunk_in_memory(X))))
    assert np.mean(np.array(p_values) < 0.05) <= 0.1
    assert off_origin_p_value(measure_samples(chunk_in_memory(X + 1))) < 1e-6


def test_samples_through_zero_are_left_where_they_are():
    assert_allclose(SubspaceSearch(3, dim=2).fit(data.X).center_, 0)


@pytest.mark.parametrize(("refine", "by"), [(False, "hint"), (True, "examples")])
def test_an_offset_of_all_samples_changes_nothing(refine, by):
    plain, shifted = SubspaceSearch(3, dim=2, center=True).fit(data.X), fit_shifted()
    if by == "hint":
        hints = ({"hint": data.bases[0] @ [1, 1]},) * 2
    else:
        hints = {"examples": data.X[members][:4]}, {"examples": data.X[members][:4] + offset}
    one, other = (search.search(**hint, refine=refine) for search, hint in zip((plain, shifted), hints, strict=True))
    assert_allclose(other.center, middle + offset)
    assert gap(one.basis, other.basis) < 1e-6
    assert gap(other.basis, data.bases[0]) < 0.2
    assert other.weight == pytest.approx(one.weight, rel=1e-4)  # EM ends within its tolerance
    assert_allclose(other.stderr.basis, one.stderr.basis, rtol=1e-5)
    assert_allclose(other.membership(data.X + offset), one.membership(data.X), atol=1e-4)
    assert_allclose(other.alternatives[0].basis @ other.alternatives[0].basis.T,
                    one.alternatives[0].basis @ one.alternatives[0].basis.T, atol=1e-6)  # fmt: skip


def test_an_outlier_is_left_out_and_named():
    X = data.X.copy()
    X[70] = 80 * np.ones(20)
    with warns("outliers") as caught:
        search = SubspaceSearch(3, dim=2).fit(X)
    assert search.outliers_.tolist() == [70]
    assert caught[0].message.fields["n_outliers"] == 1
    found = search.search(examples=data.X[members][:4])
    assert gap(found.basis, data.bases[0]) < 0.2
    assert found.weight == pytest.approx(members.mean(), abs=0.03)


@pytest.mark.filterwarnings("ignore::mixsearch.errors.UnlikelyMixtureWarning")  # 25 samples hardly stand out
@pytest.mark.parametrize("scales", [(1, 1, 1), (0.1, 1, 10)])
def test_clean_samples_lose_none_whatever_their_variances(scales):
    rng = np.random.default_rng(3)
    labels = rng.choice(3, size=5000, p=[0.6, 0.395, 0.005])
    bases = np.linalg.qr(rng.normal(size=(3, 15, 2)))[0]
    inside = np.einsum("ndr,nr->nd", bases[labels], rng.normal(size=(5000, 2)))
    X = np.array(scales)[labels, None] * inside + 0.1 * rng.normal(size=(5000, 15))
    assert len(SubspaceSearch(3, dim=2).fit(X).outliers_) == 0


def test_far_samples_of_one_plane_are_members_and_those_in_all_directions_are_not():
    rng = np.random.default_rng(4)
    basis = np.linalg.qr(rng.normal(size=(12, 2)))[0]
    plane, anywhere = rng.normal(size=(20, 2)) @ basis.T, rng.normal(size=(10, 12))
    assert_allclose(find_subspace_members(np.vstack([plane, anywhere]), 2), np.arange(30) < 20)
    assert not find_subspace_members(anywhere, 2).any()
