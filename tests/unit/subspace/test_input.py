"""Bad samples are refused with a code; odd ones are as good as any."""

import numpy as np
import pytest
from tests.coded import raises

from mixsearch import SubspaceSearch
from mixsearch.datasets import make_subspaces
from mixsearch.errors import SearchError

data = make_subspaces(6000, 30, 3, dim=2, deviation=0.3, random_state=0)


BAD = {
    "too_large": lambda X: 1e160 * X,
    "too_small": lambda X: 1e-160 * X,
    "rank_too_low": lambda X: np.ones((100, 30)),
    "too_few_samples": lambda X: X[:6],
    "text": lambda X: X.astype(str).astype(object) + "x",
}


@pytest.mark.parametrize("kind", BAD)
def test_bad_samples_are_refused_with_a_code(kind):
    with pytest.raises(SearchError) as caught:
        SubspaceSearch(3, dim=2).fit(BAD[kind](data.X))
    assert caught.value.code


def test_absurd_numbers_of_subspaces_and_dimensions_are_refused_at_once():
    for wrong in ({"n_components": 10**9}, {"n_components": 2, "dim": 10**9}):
        with raises("too_few_features"):
            SubspaceSearch(**wrong).fit(data.X)


def test_constant_features_half_precision_and_read_only_samples_are_as_good_as_any():
    X = np.column_stack([data.X, np.full(len(data.X), 3.0)]).astype(np.float16)
    X.flags.writeable = False
    found = SubspaceSearch(3, dim=2).fit(X).search(examples=X[data.labels == 0][:4], refine=True)
    truth = np.vstack([data.bases[0], np.zeros((1, 2))])
    assert np.linalg.norm(found.basis @ found.basis.T - truth @ truth.T, 2) < 0.2
