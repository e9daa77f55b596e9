import numpy as np
import pytest
from tests.coded import raises
from tests.populations import draw_mixture, whitener

from mixsearch import search_family
from mixsearch.core.extraction import extract_by_whitening
from mixsearch.core.moments import Hinted
from mixsearch.core.rows import chunk_in_memory
from mixsearch.datasets import make_gaussian_mixture
from mixsearch.errors import WeakHintWarning
from mixsearch.gaussian import fit_gaussian


def test_a_component_without_weight_has_no_center():
    mixture = draw_mixture(3, 4, 9)
    W = whitener(mixture.frame)
    with raises("no_mass", weight=0):
        extract_by_whitening(Hinted(W.T @ mixture.hinted @ W, np.zeros(4), np.zeros(4)))


def search_tie(seed):
    data = make_gaussian_mixture(2000, 10, 3, random_state=seed)
    family = fit_gaussian(chunk_in_memory(data.X), 3, paper=False, seed=0)
    return search_family(family, np.linalg.pinv(data.centers) @ [1.0, 1.0, 0.0])


def test_a_tie_in_any_family_is_among_the_warnings_and_names_the_line_of_the_caller():
    with pytest.warns(WeakHintWarning) as warned:
        codes = [warning.code for seed in range(5) for warning in search_tie(seed).warnings]
    assert codes.count("weak_hint") == len(warned) >= 2
    assert {warning.filename for warning in warned} == {__file__}
