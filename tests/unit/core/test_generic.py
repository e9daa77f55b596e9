import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from tests.coded import raises
from tests.populations import Mixture, draw_mixture

from mixsearch import Moments, SearchError, WeakHintWarning, search_family, search_moments
from mixsearch.core.rows import chunk_in_memory
from mixsearch.datasets import make_gaussian_mixture
from mixsearch.errors import NoMassError, RankError
from mixsearch.gaussian import fit_gaussian

MIXTURE = draw_mixture(3, 4, 9)


def moments(mixture=MIXTURE, **changed):
    fields = {"mean": mixture.mean, "second": mixture.second, "hinted": mixture.hinted}
    return Moments(**(fields | changed))


@pytest.mark.parametrize(
    ("changed", "k", "error", "code", "fields"),
    [
        ({}, 6, RankError, "rank_too_low", {"rank": 4, "needed": 6, "possible": 4}),
        ({}, 0, SearchError, "bad_argument", {"argument": "n_components", "value": 0}),
        ({"second": np.eye(3)}, 4, SearchError, "moments_shape", {"name": "second", "shape": (3, 3)}),
        ({"second": np.triu(np.ones((9, 9)))}, 4, SearchError, "moments_not_symmetric", {"name": "second"}),
        ({"mean": np.full(9, np.nan)}, 4, SearchError, "moments_not_finite", {"name": "mean"}),
        ({"mean": np.zeros(9)}, 4, NoMassError, "no_mass", {"weight": 0}),
    ],
)
def test_moments_that_cannot_be_searched_say_why(changed, k, error, code, fields):
    with raises(code, **fields) as caught:
        search_moments(moments(**changed), k)
    assert isinstance(caught.value, error)


def test_lists_and_sparse_matrices_are_moments_too():
    plain = search_moments(moments(), 4)
    listed = Moments(MIXTURE.mean.tolist(), MIXTURE.second.tolist(), sp.coo_array(MIXTURE.hinted))
    assert_allclose(search_moments(listed, 4).center, plain.center)


def test_a_warning_names_the_line_of_the_caller():
    hint = np.linalg.pinv(MIXTURE.centers) @ np.array([1.0, 1.02, 0.1, 0.1])
    with pytest.warns(WeakHintWarning) as warned:
        search_moments(moments(Mixture(MIXTURE.centers, MIXTURE.weights, hint)), 4)
    assert warned[0].filename == __file__


@pytest.mark.filterwarnings("ignore::mixsearch.WeakHintWarning")
def test_a_tie_in_any_family_is_among_the_warnings():
    codes = []
    for seed in range(5):
        data = make_gaussian_mixture(2000, 10, 3, random_state=seed)
        family = fit_gaussian(chunk_in_memory(data.X), 3, paper=False, seed=0)
        found = search_family(family, np.linalg.pinv(data.centers) @ [1.0, 1.0, 0.0])
        codes += [warning.code for warning in found.warnings]
    assert codes.count("weak_hint") >= 2
