"""The number of communities that links can show."""

import numpy as np
import pytest
import scipy.sparse as sp

from mixsearch.community.spectrum import count_apart, find_spectrum
from mixsearch.datasets import make_communities


@pytest.mark.parametrize(("signal", "expected"), [(0.0, 1), (0.5, 1), (2.5, 5)])
def test_communities_count_beyond_the_threshold(signal, expected):
    data = make_communities(3000, 5, mean_degree=15, signal=signal, random_state=0)
    assert find_spectrum(data.adjacency, seed=0).n_components == expected


def test_the_count_is_that_of_negative_eigenvalues_of_the_bethe_hessian():
    adjacency = make_communities(300, 3, mean_degree=8, signal=2.5, random_state=1).adjacency.toarray()
    degrees = adjacency.sum(axis=1)
    r = np.sqrt(np.sum(degrees**2) / degrees.sum() - 1)
    bethe = [(r**2 - 1) * np.eye(300) - side * r * adjacency + np.diag(degrees) for side in (1, -1)]
    expected = sum(np.count_nonzero(np.linalg.eigvalsh(each) < 0) for each in bethe)
    spectrum = find_spectrum(make_communities(300, 3, mean_degree=8, signal=2.5, random_state=1).adjacency, seed=0)
    assert spectrum.n_components == expected
    assert "beyond the detection threshold" in repr(spectrum)


def test_hubs_that_avoid_each_other_are_no_communities():
    # Hubs of this graph would have several links with each other by chance, and can have one at most.
    data = make_communities(1000, 4, mean_degree=20, signal=0, degree_exponent=2.5, random_state=71)
    assert find_spectrum(data.adjacency, seed=0).n_components == 1


def test_one_hub_hides_no_communities():
    data = make_communities(3000, 4, mean_degree=20, signal=4, degree_exponent=2.7, random_state=73)
    assert np.diff(data.adjacency.indptr).max() > 1000
    assert find_spectrum(data.adjacency, seed=0).n_components == 4


def test_a_star_keeps_its_hub():
    star = np.zeros((40, 40))
    star[0, 1:] = star[1:, 0] = 1.0
    assert find_spectrum(sp.csr_array(star), seed=0).n_components <= 2


def test_parts_of_a_community_count_once():
    data = make_communities(600, 3, mean_degree=20, signal=10, random_state=0)
    parts = 2 * data.labels + np.arange(600) % 2
    assert count_apart(data.adjacency, np.eye(6)[parts]) == 3
    assert count_apart(data.adjacency, np.eye(3)[data.labels]) == 3
    assert count_apart(data.adjacency, np.ones((600, 1))) == 1
