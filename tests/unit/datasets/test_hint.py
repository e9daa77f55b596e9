import numpy as np
import pytest
from numpy.testing import assert_allclose

from mixsearch.datasets import make_hint, make_subspaces
from mixsearch.errors import ArgumentError


@pytest.mark.parametrize("gamma", [0.2, 0.7, 1.0])
def test_a_hint_has_the_strength_that_was_asked_for(gamma):
    centers = np.random.default_rng(0).normal(size=(4, 20))
    v = make_hint(centers, 2, gamma=gamma)
    assert np.linalg.norm(v) == pytest.approx(1)
    span = np.linalg.qr(np.delete(centers, 2, axis=0).T)[0]
    inside = span @ (span.T @ v)
    assert inside @ inside == pytest.approx(1 - gamma, abs=1e-12)
    assert (v - inside) @ centers[2] > 0


def test_a_hint_for_a_subspace_lies_most_in_it():
    data = make_subspaces(10, 60, 3, dim=4, random_state=0)
    v = make_hint(data.bases, 1, gamma=0.9)
    inside = [np.linalg.norm(U.T @ v) for U in data.bases]
    assert np.argmax(inside) == 1


def test_a_hint_for_the_only_component_is_its_direction():
    assert_allclose(make_hint(np.array([[3.0, 4.0]])), [0.6, 0.8])


def test_a_strength_outside_its_range_is_refused():
    with pytest.raises(ArgumentError, match="gamma must be above 0 and at most 1, got 0"):
        make_hint(np.eye(3), gamma=0)
