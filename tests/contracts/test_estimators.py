"""Every estimator: a search leaves it as it is, the answer is a component."""

import pytest

import mixsearch
from mixsearch import GaussianSearch, LdaSearch, RegressionSearch, SubspaceSearch
from mixsearch.datasets import (
    make_gaussian_mixture,
    make_mixed_regression,
    make_subspaces,
    make_topics,
)

FAMILIES = ("gaussian", "regression", "subspace", "lda")


def fitted(family):
    if family == "gaussian":
        data = make_gaussian_mixture(500, 8, 3, random_state=0)
        return GaussianSearch(3).fit(data.X), {"hint": data.centers[0]}
    if family == "regression":
        data = make_mixed_regression(4000, 4, 2, random_state=0)
        return RegressionSearch(2).fit(data.X, data.y), {"hint": data.centers[0]}
    if family == "subspace":
        data = make_subspaces(1000, 12, 2, dim=2, random_state=0)
        return SubspaceSearch(2, dim=2).fit(data.X), {"hint": data.X[0]}
    data = make_topics(500, 60, 3, random_state=0)
    search = LdaSearch(3).fit(data.counts, vocabulary=data.vocabulary)
    return search, {"words": data.vocabulary[data.labelled_word(0)]}


@pytest.mark.filterwarnings("ignore::mixsearch.WeakHintWarning")
@pytest.mark.parametrize("family", FAMILIES)
def test_a_search_does_not_write_to_the_estimator(family):
    search, hint = fitted(family)
    before = {name: id(value) for name, value in vars(search).items()}
    search.search(**hint, refine=True)
    assert {name: id(value) for name, value in vars(search).items()} == before


@pytest.mark.parametrize("family", FAMILIES)
def test_the_answer_is_a_component(family):
    search, hint = fitted(family)
    assert isinstance(search.search(**hint), mixsearch.Component)
