"""The sum of the Dirichlet parameters, estimated from counts."""

import numpy as np
import pytest

from mixsearch import TopicSearch
from mixsearch.datasets import make_topics
from mixsearch.errors import SearchError


def fit(data, alpha0, k=5):
    return TopicSearch(k, alpha0=alpha0, damping=False).fit(data.counts)


@pytest.mark.slow
@pytest.mark.parametrize("alpha", [0.1, 0.6])
def test_the_sum_is_found_within_its_error_bar(alpha):
    data = make_topics(4000, 200, 5, mean_length=200, alpha=alpha, random_state=0)
    search = fit(data, "auto")
    assert search.alpha0_ == pytest.approx(5 * alpha, rel=0.2)
    assert abs(search.alpha0_ - 5 * alpha) < 4 * search.alpha0_stderr_
    assert search.alpha0_stderr_ < 0.2 * search.alpha0_


@pytest.mark.slow
def test_an_estimated_sum_does_as_well_as_the_true_one():
    data = make_topics(4000, 200, 5, mean_length=200, alpha=0.4, random_state=1)

    def error(alpha0):
        search = fit(data, alpha0)
        found = [search.search(data.topics[i] - data.topics.mean(axis=0), choose="largest").center for i in range(5)]
        return np.mean([np.linalg.norm(one - truth) for one, truth in zip(found, data.topics, strict=True)])

    estimated = error("auto")
    assert estimated < 1.1 * error(2.0)
    assert estimated < 0.7 * error(0.01)


@pytest.mark.parametrize(
    ("options", "counts", "code"),
    [
        ({"damping": True}, 1.0, "options_conflict"),
        ({"damping": False, "moments": "plugin"}, 1.0, "options_conflict"),
        ({"damping": False}, 0.5, "needs_whole_counts"),
    ],
)
def test_counts_must_be_those_of_the_model(options, counts, code):
    data = make_topics(100, 30, 2, mean_length=50, random_state=0)
    with pytest.raises(SearchError) as caught:
        TopicSearch(2, alpha0="auto", **options).fit(data.counts * counts)
    assert caught.value.code == code
