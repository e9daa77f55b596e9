"""The number of communities that links can show."""

import numpy as np
import pytest

from mixsearch.community._rank_selection import find_spectrum
from mixsearch.datasets import make_communities


@pytest.mark.parametrize(("signal", "expected"), [(0.0, 1), (0.5, 1), (2.5, 5)])
def test_communities_count_beyond_the_threshold(signal, expected):
    data = make_communities(3000, 5, mean_degree=15, signal=signal, random_state=0)
    assert find_spectrum(data.adjacency, seed=0).n_components == expected


def test_more_communities_than_were_tried_first():
    data = make_communities(3000, 24, mean_degree=25, signal=12, random_state=0)
    assert find_spectrum(data.adjacency, seed=0).n_components == 24


def test_the_count_is_that_of_negative_eigenvalues_of_the_bethe_hessian():
    adjacency = make_communities(300, 3, mean_degree=8, signal=2.5, random_state=1).adjacency.toarray()
    degrees = adjacency.sum(axis=1)
    r = np.sqrt(np.sum(degrees**2) / degrees.sum() - 1)
    bethe = [(r**2 - 1) * np.eye(300) - side * r * adjacency + np.diag(degrees) for side in (1, -1)]
    expected = sum(np.count_nonzero(np.linalg.eigvalsh(each) < 0) for each in bethe)
    spectrum = find_spectrum(make_communities(300, 3, mean_degree=8, signal=2.5, random_state=1).adjacency, seed=0)
    assert spectrum.n_components == expected
    assert "beyond the detection threshold" in repr(spectrum)
