"""`n_components="auto"` for subspaces, also if the number of directions is not a multiple of the dimension."""

import numpy as np
import pytest

from mixsearch import SubspaceSearch
from mixsearch.datasets import make_subspaces
from mixsearch.errors import UnlikelyMixtureWarning


def test_subspaces_are_counted():
    X = make_subspaces(1500, 30, 4, dim=3, random_state=0).X
    search = SubspaceSearch("auto", dim=3).fit(X)
    assert (search.n_components_, search.spectrum_.n_signal) == (4, 12)


def test_directions_that_are_no_multiple_of_the_dimension_warn():
    X = make_subspaces(1500, 30, 2, dim=4, random_state=0).X
    with pytest.warns(
        UnlikelyMixtureWarning, match="8 directions stand out.*dim=3; the fit uses 3 subspaces"
    ) as record:
        assert SubspaceSearch("auto", dim=3).fit(X).n_components_ == 3
    warning = record[0].message
    assert warning.code == "no_whole_subspaces"
    assert (warning.fields["n_signal"], warning.fields["dim"], warning.fields["n_components"]) == (8, 3, 3)


def test_subspaces_never_fill_the_whole_space():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((600, 6)) * [5, 4, 3, 3, 2, 0.1]
    with pytest.warns(UnlikelyMixtureWarning, match="5 directions"):
        assert SubspaceSearch("auto", dim=3).fit(X).n_components_ == 1


def test_noise_alone_is_fitted_with_one_subspace_and_a_warning():
    X = np.random.default_rng(1).standard_normal((300, 8))
    with pytest.warns(UnlikelyMixtureWarning, match="No direction stands out from the noise.*one subspace"):
        assert SubspaceSearch("auto").fit(X).n_components_ == 1
