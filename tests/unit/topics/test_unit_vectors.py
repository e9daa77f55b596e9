"""Documents as unit vectors: sums and scalar products against the vectors themselves."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from mixsearch.topics._unit_vectors import (
    BROAD_POWER,
    FINE_POWER,
    N_LEADING,
    broad_places,
    project_places,
    sum_places,
)


def draw_places(seed, k):
    """Whitened counts, the eigenvalues, and both places of each document; the first document has no words."""
    rng = np.random.default_rng(seed)
    projected, values = rng.normal(size=(7, k)), np.sort(rng.uniform(0.1, 3, k))[::-1]
    projected[0] = 0
    vectors = [projected * values**FINE_POWER, projected * values**BROAD_POWER * (np.arange(k) < N_LEADING)]
    lengths = [np.linalg.norm(each, axis=1, keepdims=True) for each in vectors]
    return projected, values, [each / np.maximum(size, 1e-300) for each, size in zip(vectors, lengths, strict=True)]


@given(seed=st.integers(0, 2**32 - 1), k=st.sampled_from([1, 5, N_LEADING + 3]))
def test_sums_and_products_of_places_are_those_of_unit_vectors(seed, k):
    projected, values, places = draw_places(seed, k)
    rng = np.random.default_rng(seed)
    weights, directions = rng.normal(size=7), rng.normal(size=(2, k))
    assert_allclose(sum_places(projected, values, weights), [weights @ each for each in places], atol=1e-12)
    wanted = np.column_stack([each @ direction for each, direction in zip(places, directions, strict=True)])
    assert_allclose(project_places(projected, values, directions), wanted, atol=1e-12)
    assert_allclose(broad_places(projected, values), places[1], atol=1e-12)
