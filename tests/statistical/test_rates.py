"""Errors fall as one over the root of the number of samples, for all four models."""

import numpy as np
import pytest

from mixsearch import GaussianSearch, LdaSearch, RegressionSearch, SubspaceSearch
from mixsearch.datasets import make_gaussian_mixture, make_hint, make_mixed_regression, make_subspaces, make_topics

SIZES = 2 ** np.arange(10, 18)
SEEDS = range(8)


def gaussian_error(n, seed):
    data = make_gaussian_mixture(n, 20, 3, deviation=1.0, random_state=seed)
    found = GaussianSearch(3).fit(data.X).search(make_hint(data.centers, 0, gamma=0.9))
    return np.linalg.norm(found.center - data.centers[0])


def topic_error(n, seed):
    data = make_topics(n, 40, 3, mean_length=30, alpha=0.3, random_state=seed)
    found = LdaSearch(3, alpha0=0.9).fit(data.counts).search(words=data.labelled_word(0))
    return np.linalg.norm(found.center - data.topics[0])


def regression_error(n, seed):
    data = make_mixed_regression(n, 10, 2, weights=np.array([0.5, 0.5]), random_state=seed)
    found = RegressionSearch(2).fit(data.X, data.y).search(make_hint(data.centers, 0, gamma=0.9))
    return np.linalg.norm(found.center - data.centers[0])


def subspace_error(n, seed):
    data = make_subspaces(n, 30, 2, dim=2, deviation=0.1, random_state=seed)
    found = SubspaceSearch(2, dim=2).fit(data.X).search(make_hint(data.bases, 0, gamma=0.95), refine=False)
    return np.linalg.norm(found.basis @ found.basis.T - data.bases[0] @ data.bases[0].T, 2)


@pytest.mark.parametrize("error", [gaussian_error, topic_error, regression_error, subspace_error])
@pytest.mark.filterwarnings("ignore::mixsearch.errors.SearchWarning")  # of few samples
def test_the_error_falls_with_the_root_of_the_number_of_samples(error):
    errors = [np.mean([error(int(n), seed) for seed in SEEDS]) for n in SIZES]
    slope, _ = np.polyfit(np.log2(SIZES), np.log2(errors), 1)
    assert slope == pytest.approx(-0.5, abs=0.1), errors
