"""Error bars of the number of members."""

import numpy as np
import pytest

from mixsearch import CommunitySearch
from mixsearch.datasets import make_communities


@pytest.mark.slow
def test_intervals_hold_the_number_of_members():
    errors = []
    for seed in range(12):
        data = make_communities(1500, 3, mean_degree=15, signal=3, random_state=seed)
        search = CommunitySearch(3).fit(data.adjacency)
        for community in range(3):
            found = search.search(examples=data.known(community, 5))
            errors.append((found.weight - np.mean(data.labels == community)) / found.stderr.weight)
    # Of 36 standardised errors, which hang together by threes.
    assert 0.6 < np.std(errors) < 1.7
    assert np.mean(np.abs(errors) < 1.96) > 0.8
