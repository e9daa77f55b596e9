import numpy as np
import pytest

from mixsearch.datasets import make_subspaces
from mixsearch.errors import RankError, SearchError
from mixsearch.subspace import choose_dim


@pytest.mark.parametrize("n_components", [2, "auto"])
@pytest.mark.parametrize("dim", [1, 2, 3])
def test_the_dimension_of_planted_subspaces_is_chosen(dim, n_components):
    data = make_subspaces(500, 12, 2, dim=dim, deviation=0.2, random_state=1)
    few = data.X[data.labels == 0][:6]
    assert choose_dim(data.X, few, n_components) == dim
    assert choose_dim(data.X + 3, few + 3, n_components, center=True) == dim


def test_too_many_subspaces_for_the_features_are_an_error():
    X = np.random.default_rng(0).standard_normal((50, 3))
    with pytest.raises(SearchError, match="3 subspaces and noise need at least 4 features"):
        choose_dim(X, X[:2], 3)


def test_rows_that_do_not_vary_have_no_dimension():
    with pytest.raises(RankError):
        choose_dim(np.zeros((50, 4)), np.zeros((2, 4)), 1)
