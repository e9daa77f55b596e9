"""Three regressions that are easy to tell apart, and a search that was fitted to them."""

import pytest

from mixsearch import RegressionSearch
from mixsearch.datasets import make_mixed_regression

NOISE = 0.2


@pytest.fixture(scope="session")
def data():
    return make_mixed_regression(20_000, 6, 3, deviation=NOISE, random_state=4)


@pytest.fixture(scope="session")
def search(data):
    return RegressionSearch(3).fit(data.X, data.y)
