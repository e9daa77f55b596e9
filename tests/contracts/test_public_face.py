"""Answers and estimators expose results, not internals; arguments are typed; few calls lead from `fit` to the data."""

import inspect
import sys

import numpy as np
import pytest

import mixsearch
from mixsearch import CommunitySearch, GaussianSearch, RegressionSearch, SubspaceSearch, TopicSearch
from mixsearch.datasets import (
    make_communities,
    make_gaussian_mixture,
    make_mixed_regression,
    make_subspaces,
    make_topics,
)
from mixsearch.errors import Coded, UnknownArgumentError

SHARED = {
    "alternatives", "center", "confidence", "doubts", "membership", "moment_estimate", "scores", "separation",
    "separation_interval", "share", "stderr", "weight",
}  # fmt: skip
OWN = {
    "community": {
        "inside",
        "is_detectable",
        "members",
        "n_members",
        "n_members_interval",
        "score",
        "to_columns",
        "to_frame",
        "typical",
    },
    "gaussian": {"covariance", "hint_in_signal", "noise_variance", "score"},
    "regression": {"coefficients", "intercept", "joint", "noise_variance", "predict", "predict_stderr", "score"},
    "subspace": {"basis", "carried_by", "hint_in_signal", "noise_variance", "variances"},
    "topics": {
        "document_count",
        "documents",
        "probabilities",
        "related_words",
        "score",
        "to_frame",
        "top_words",
        "word_table",
    },
}
ESTIMATOR = {
    "fit", "fit_transform", "get_feature_names_out", "get_metadata_routing", "get_params", "n_components_",
    "n_features_in_", "search", "search_many", "set_output", "set_params", "transform",
}  # fmt: skip
FITTED = {
    "community": {"graph_", "set_fit_request", "spectrum_"},
    "gaussian": {"covariance_", "mean_", "noise_variance_", "outliers_", "scale_"},
    "regression": {"noise_variance_", "outliers_"},
    "subspace": {"center_", "dim_", "noise_variance_", "outliers_"},
    "topics": {"kept_rows_", "load", "n_dropped_", "save", "set_fit_request", "vocabulary_"},
}


def fitted(family):
    if family == "community":
        data = make_communities(400, 2, mean_degree=15, signal=6, random_state=0)
        return CommunitySearch(2).fit(data.adjacency), {"examples": data.known(0, 3)}
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
    search = TopicSearch(3, damping=False).fit(data.counts, vocabulary=data.vocabulary)
    return search, {"words": data.vocabulary[data.labelled_word(0)]}


def public(thing):
    return {name for name in dir(thing) if not name.startswith("_")}


@pytest.mark.filterwarnings("ignore::mixsearch.WeakHintWarning")
@pytest.mark.parametrize("family", OWN)
def test_tab_completion_shows_results(family):
    search, hint = fitted(family)
    assert public(search.search(**hint)) == SHARED | OWN[family]
    assert public(search) == ESTIMATOR | FITTED[family] | set(search.get_params())


@pytest.mark.filterwarnings("ignore::mixsearch.WeakHintWarning")
@pytest.mark.parametrize("family", OWN)
def test_a_search_does_not_write_to_the_estimator(family):
    search, hint = fitted(family)
    before = {name: id(value) for name, value in vars(search).items()}
    search.search(**hint, refine=True)
    assert {name: id(value) for name, value in vars(search).items()} == before


@pytest.mark.parametrize("family", OWN)
def test_a_wrong_argument_is_answered_with_those_that_exist_nearest_first(family):
    search, hint = fitted(family)
    with pytest.raises(UnknownArgumentError, match="no argument 'toll'. Its arguments, nearest first: tol, ") as caught:
        search.search(**hint, toll=1)
    assert caught.value.code == "unknown_argument"


@pytest.mark.parametrize("family", OWN)
def test_the_answer_is_a_component(family):
    search, hint = fitted(family)
    assert isinstance(search.search(**hint), mixsearch.Component)


def exported_callables():
    for name in mixsearch.__all__:
        thing = getattr(mixsearch, name)
        if inspect.isfunction(thing):
            yield name, thing
        elif inspect.isclass(thing) and not issubclass(thing, Coded):
            methods = inspect.getmembers(thing, inspect.isfunction)
            yield from (
                (f"{name}.{method}", function)
                for method, function in methods
                if (not method.startswith("_") or method == "__init__") and function.__module__.startswith("mixsearch")
            )


@pytest.mark.parametrize(("name", "function"), list(exported_callables()))
def test_boundaries_are_typed(name, function):
    signature = inspect.signature(function)
    for parameter in signature.parameters.values():
        if parameter.name == "self" or parameter.kind is parameter.VAR_KEYWORD:
            continue
        assert parameter.annotation not in (inspect.Parameter.empty, "Any"), f"{name}({parameter.name}) has no type"
    assert signature.return_annotation not in (inspect.Signature.empty, "Any"), f"{name} has no return type"


def depth_of(function_name, run):
    """Return the calls within the package from a call to the first call of a function."""
    stack, found = [], []

    def watch(frame, event, _):
        if "mixsearch" not in frame.f_code.co_filename:
            return
        if event == "call":
            stack.append(frame.f_code.co_name)
            if frame.f_code.co_name == function_name and not found:
                found.extend(stack)
        elif event == "return" and stack:
            stack.pop()

    sys.setprofile(watch)
    try:
        run()
    finally:
        sys.setprofile(None)
    return found


@pytest.mark.filterwarnings("ignore::mixsearch.errors.UnlikelyMixtureWarning")
@pytest.mark.parametrize("search", [GaussianSearch(3), SubspaceSearch(2, dim=2)], ids=["gaussian", "subspace"])
def test_from_fit_to_the_gram_matrix_are_six_calls(search):
    X = np.random.default_rng(0).standard_normal((300, 12)) * np.linspace(3, 1, 12)
    assert 0 < len(depth_of("gram", lambda: search.fit(X))) <= 6
