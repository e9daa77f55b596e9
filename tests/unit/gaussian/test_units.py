import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from tests.split_samples import split_samples

from mixsearch import GaussianSearch
from mixsearch.datasets import make_gaussian_mixture
from mixsearch.errors import UnlikelyMixtureWarning, collect_warnings
from mixsearch.gaussian.units import measure_units

X = np.random.default_rng(0).normal(size=(400, 3)) * [100.0, 1.0, 0.01] + [1e6, 0.0, -3.0]


@pytest.mark.parametrize("samples", [X, sp.csr_array(X)], ids=["dense", "sparse"])
def test_standard_samples_have_mean_zero_and_deviation_one(samples):
    units = measure_units(split_samples(samples, [100, 150]), is_scaled=True)
    Z = units.standardize(samples)
    assert_allclose(Z.mean(axis=0), 0, atol=1e-8)
    assert_allclose(Z.std(axis=0), 1)
    assert_allclose(units.restore(Z), X)


def test_without_a_scale_all_features_have_the_same_unit():
    units = measure_units(split_samples(X, []), is_scaled=False)
    assert_allclose(units.scale, np.sqrt(np.mean(X.var(axis=0))))


def test_rounding_of_a_constant_feature_is_no_information():
    constant = np.column_stack([X[:, 1], np.full(400, 0.1)])
    units = measure_units(split_samples(constant, []), is_scaled=True)
    assert units.varies.tolist() == [True, False]
    assert not units.standardize(constant)[:, 1].any()
    assert_allclose(units.restore(units.standardize(constant)), constant)


def test_units_that_differ_are_said_once_with_the_first_thing_to_do():
    data = make_gaussian_mixture(600, 6, 3, random_state=0)
    X = data.X * np.array([1.0, 1.0, 1.0, 1.0, 30.0, 1000.0])
    with pytest.warns(UnlikelyMixtureWarning) as caught:
        fitted = GaussianSearch(2).fit(X)
    assert [each.message.code for each in caught] == ["units_differ"]
    assert caught[0].message.fields["scale"] == "scale"
    assert caught[0].message.fields["ratio"] > 300
    with collect_warnings() as again:
        found = fitted.search(examples=X[data.labels == 0][:5])
    assert not {"units_differ", "not_spherical", "too_few_components"} & {each.code for each in again}
    assert "units_differ" in [doubt.code for doubt in found.doubts]
    with collect_warnings() as scaled:
        GaussianSearch(3, scale=True).fit(X)
    assert not scaled
