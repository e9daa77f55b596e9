"""Standard errors are right: over many small runs, the mean square of error divided by standard error is about 1."""

import numpy as np
import pytest

from mixsearch import GaussianSearch, LdaSearch, RegressionSearch, SubspaceSearch
from mixsearch.datasets import make_gaussian_mixture, make_hint, make_mixed_regression, make_subspaces, make_topics

N_RUNS = 24


def gaussian(seed):
    data = make_gaussian_mixture(1500, 12, 3, deviation=1.5, random_state=seed)
    found = GaussianSearch(3).fit(data.X).search(make_hint(data.centers, 0, gamma=0.95), refine=True)
    return found, data.centers[0], data.weights[0]


def regression(seed):
    data = make_mixed_regression(10_000, 6, 2, deviation=0.3, random_state=seed)
    found = RegressionSearch(2).fit(data.X, data.y).search(make_hint(data.centers, 0, gamma=0.95), refine=True)
    return found, data.centers[0], data.weights[0]


def topic(seed):
    data = make_topics(800, 25, 2, mean_length=40, alpha=0.3, concentration=1.0, random_state=seed)
    found = LdaSearch(2, alpha0=0.6).fit(data.counts).search(words=data.labelled_word(0), refine=True)
    return found, data.topics[0], 0.5


@pytest.mark.parametrize("draw", [gaussian, regression, topic])
def test_errors_are_as_large_as_they_are_said_to_be(draw):
    squares = {"moments": [], "refined": []}
    for seed in range(N_RUNS):
        found, center, weight = draw(seed)
        for name, each in {"moments": found.moment_estimate, "refined": found}.items():
            away = (each.center - center) / each.stderr.center
            squares[name].append([np.mean(away**2), ((each.weight - weight) / each.stderr.weight) ** 2])
    for name, values in squares.items():
        of_center, of_weight = np.mean(values, axis=0)
        assert 0.5 < of_center < 1.6, name
        assert 0.4 < of_weight < 2.2, name


def test_errors_of_a_basis_are_as_large_as_they_are_said_to_be():
    squares = []
    for seed in range(N_RUNS):
        data = make_subspaces(1500, 15, 2, dim=2, deviation=0.3, random_state=seed)
        members = data.X[data.labels == 0][:6]
        found = SubspaceSearch(2, dim=2).fit(data.X).search(examples=members, refine=True)
        left, _, right = np.linalg.svd(data.bases[0].T @ found.basis)
        away = (found.basis - data.bases[0] @ left @ right) / found.stderr.basis
        squares.append([np.mean(away**2), ((found.weight - data.weights[0]) / found.stderr.weight) ** 2])
    of_basis, of_weight = np.mean(squares, axis=0)
    assert 0.6 < of_basis < 1.5
    assert 0.4 < of_weight < 2.2
