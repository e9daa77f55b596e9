"""What users expect of an estimator, for all four families."""

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.coded import raises

from mixsearch import GaussianSearch, LdaSearch, RegressionSearch, SubspaceSearch
from mixsearch.core.validation import check_one_hint, hint_from_direction
from mixsearch.datasets import make_gaussian_mixture, make_mixed_regression, make_subspaces, make_topics
from mixsearch.lda import mean_frequencies

gaussian = make_gaussian_mixture(1000, 12, 4, random_state=0)
regression = make_mixed_regression(10000, 6, 3, random_state=0)
subspaces = make_subspaces(1200, 20, 3, dim=2, random_state=0)
topics = make_topics(800, 60, 4, mean_length=40, random_state=0)


def gaussian_case():
    return GaussianSearch(4).fit(gaussian.X), {"hint": gaussian.centers[1]}, gaussian.X


def lda_case():
    search = LdaSearch(4, alpha0=0.8).fit(topics.counts, vocabulary=topics.vocabulary)
    return search, {"words": topics.vocabulary[topics.labelled_word(1)]}, topics.counts


def regression_case():
    return RegressionSearch(3).fit(regression.X, regression.y), {"hint": regression.centers[1]}, regression.X


def subspace_case():
    return SubspaceSearch(3, dim=2).fit(subspaces.X), {"hint": subspaces.bases[1][:, 0]}, subspaces.X


CASES = [gaussian_case, lda_case, regression_case, subspace_case]


def parameter(found):
    return found.basis @ found.basis.T if hasattr(found, "basis") else found.center


@pytest.mark.parametrize("case", CASES)
def test_every_answer_carries_what_is_promised(case):
    search, hint, _ = case()
    found = search.search(**hint)
    k = search.n_components_
    assert 0 < found.weight < 1
    assert found.separation > 1.1
    assert len(found.scores) == k
    assert len(found.alternatives) == k - 1
    assert sum(part.weight for part in (found, *found.alternatives)) == pytest.approx(1, abs=0.15)
    assert "separation" in repr(found)
    assert "<table>" in found._repr_html_()


@pytest.mark.filterwarnings("ignore::mixsearch.errors.SearchWarning")
@pytest.mark.parametrize("case", CASES)
def test_a_search_does_not_write_to_the_estimator(case):
    search, hint, _ = case()
    before = {name: id(value) for name, value in vars(search).items()}
    search.search(**hint, refine=True)
    assert {name: id(value) for name, value in vars(search).items()} == before


@pytest.mark.parametrize("case", CASES)
def test_a_pickled_search_gives_the_same_answer(case):
    search, hint, _ = case()
    again = pickle.loads(pickle.dumps(search))
    assert_allclose(parameter(again.search(**hint)), parameter(search.search(**hint)))
    found = search.search(**hint)
    assert_allclose(parameter(pickle.loads(pickle.dumps(found))), parameter(found))


@pytest.mark.parametrize("case", CASES)
def test_a_clone_is_unfitted_and_says_so(case):
    search, hint, _ = case()
    fresh = clone(search)
    assert fresh.get_params() == search.get_params()
    with pytest.raises(NotFittedError, match="not fitted yet"):
        fresh.search(**hint)


@pytest.mark.filterwarnings("ignore::mixsearch.errors.UnlikelyMixtureWarning")  # scaled features are not spherical
def test_searches_sit_in_pipelines():
    pipeline = make_pipeline(StandardScaler(), PCA(8), GaussianSearch(4)).fit(gaussian.X)
    scaled = pipeline[:-1].transform(gaussian.X)
    found = pipeline[-1].search(examples=scaled[gaussian.labels == 1][:3])
    assert roc_auc_score(gaussian.labels == 1, found.membership(scaled)) > 0.99
    texts = ["red green red blue", "green green red", "sun moon star sun", "moon star star"] * 5
    pipeline = make_pipeline(CountVectorizer(), LdaSearch(2)).fit(texts)
    assert pipeline[-1].search(words=0).membership(pipeline[0].transform(texts)).shape == (20,)


@pytest.mark.parametrize("case", [gaussian_case, lda_case, subspace_case])
def test_labels_for_a_few_members_find_their_component_during_fit(case):
    search, _, X = case()
    truth = {
        "GaussianSearch": gaussian.labels,
        "LdaSearch": topics.shares.argmax(axis=1),
        "SubspaceSearch": subspaces.labels,
    }[type(search).__name__]
    certain = topics.shares.max(axis=1) > 0.9 if isinstance(search, LdaSearch) else np.ones(X.shape[0], dtype=bool)
    y = np.full(X.shape[0], -1)
    y[np.flatnonzero((truth == 2) & certain)[:6]] = 1
    fitted = clone(search).fit(X, y)
    members = fitted.component_.membership(X)
    assert members[truth == 2].mean() > members[truth != 2].mean() + 0.5
    assert not hasattr(fitted.fit(X), "component_")


def test_labels_without_a_member_are_refused():
    with raises("no_members"):
        GaussianSearch(4).fit(gaussian.X, np.full(1000, -1))


@pytest.mark.parametrize("case", CASES)
def test_columns_in_another_order_are_not_scored_silently(case):
    search, hint, X = case()
    dense = X.toarray() if sp.issparse(X) else X
    frame = pd.DataFrame(dense, columns=[f"f{i}" for i in range(dense.shape[1])])
    y = (regression.y,) if isinstance(search, RegressionSearch) else ()
    hint = {"words": [topics.labelled_word(1)]} if isinstance(search, LdaSearch) else hint
    found = clone(search).fit(frame, *y).search(**hint)
    assert found.membership(frame, *y).shape == (len(frame),)
    with raises("other_columns", column=0, expected="f0"):
        found.membership(frame[frame.columns[::-1]], *y)
    with raises("other_columns", n_found=3, column=3, expected="f3"):
        found.membership(frame.iloc[:, :3], *y)


@pytest.mark.parametrize(
    ("v", "code"),
    [
        (np.zeros(3), "hint_zero"),
        (np.ones(4), "hint_shape"),
        (np.ones((2, 3)), "hint_shape"),
        ([1, np.nan, 2], "hint_not_finite"),
        ([1, np.inf, 2], "hint_not_finite"),
    ],
)
def test_a_direction_that_cannot_be_used_says_why(v, code):
    with raises(code):
        hint_from_direction(v, 3)


def test_documents_have_the_same_say_whatever_their_length():
    counts = sp.csr_array(np.array([[1.0, 0, 0], [0, 50, 50]]))
    assert_allclose(mean_frequencies(counts), [0.5, 0.25, 0.25])


def test_documents_without_words_are_no_hint():
    with raises("empty_documents"):
        mean_frequencies(sp.csr_array((2, 3)))


@pytest.mark.parametrize(
    ("hints", "given"),
    [({"hint": None, "words": None}, "none"), ({"hint": 1, "words": 2}, "hint and words")],
)
def test_exactly_one_hint_is_needed(hints, given):
    with raises("one_hint", choices="hint, words", given=given):
        check_one_hint(hints)
