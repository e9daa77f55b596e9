"""Accuracy compared with an oracle that knows every label and with the paper's estimates, on 10 seeds."""

import numpy as np
import pytest

from mixsearch import GaussianSearch, LdaSearch, RegressionSearch, SubspaceSearch, search_family
from mixsearch.datasets import make_gaussian_mixture, make_hint, make_mixed_regression, make_subspaces, make_topics

SEEDS = range(10)


def test_gaussian_centers_are_nearly_as_good_as_the_average_of_the_true_members():
    found, paper, oracle = [], [], []
    for seed in SEEDS:
        data = make_gaussian_mixture(10_000, 500, 10, deviation=0.5, random_state=seed)
        ours, theirs = (GaussianSearch(10, preset=noise).fit(data.X) for noise in ("default", "paper"))
        for i, center in enumerate(data.centers):
            hint = make_hint(data.centers, i)
            found.append(np.linalg.norm(ours.search(hint).center - center))
            paper.append(np.linalg.norm(theirs.search(hint).center - center))
            oracle.append(np.linalg.norm(data.X[data.labels == i].mean(axis=0) - center))
    assert np.mean(found) <= 1.05 * np.mean(oracle)
    assert np.mean(found) < np.mean(paper)


def test_topics_from_short_documents_are_better_than_the_plug_in_s():
    found, projected, paper = [], [], []
    for seed in SEEDS:
        data = make_topics(4000, 500, 5, mean_length=50, alpha=0.2, random_state=seed)
        ours, theirs = (LdaSearch(5, alpha0=1.0, preset=preset).fit(data.counts) for preset in ("default", "paper"))
        for i, topic in enumerate(data.topics):
            word = data.labelled_word(i)
            found.append(np.linalg.norm(ours.search(words=word).center - topic))
            projected.append(np.linalg.norm(search_family(ours._family, np.eye(500)[word]).center - topic))
            paper.append(np.linalg.norm(theirs.search(words=word).center - topic))
    assert np.mean(found) <= 0.6 * np.mean(paper)
    assert np.mean(projected) <= 0.57 * np.mean(paper)


@pytest.mark.filterwarnings("ignore::mixsearch.errors.WeakHintWarning")
def test_regressions_are_better_than_with_the_paper_s_noise_level():
    found, paper = [], []
    for seed in SEEDS:
        data = make_mixed_regression(100_000, 50, 3, deviation=0.1, random_state=seed)
        ours = RegressionSearch(3).fit(data.X, data.y)
        theirs = RegressionSearch(3, preset="paper").fit(data.X, data.y)
        for i, center in enumerate(data.centers):
            hint = make_hint(data.centers, i)
            found.append(np.linalg.norm(ours.search(hint).center - center))
            paper.append(np.linalg.norm(theirs.search(hint).center - center))
    assert np.mean(found) <= 0.6 * np.mean(paper)


def test_subspaces_come_within_a_third_of_the_oracle_from_as_many_samples_as_dimensions():
    found, oracle = [], []
    for seed in SEEDS:
        data = make_subspaces(10_000, 500, 5, dim=10, deviation=0.2, random_state=seed)
        search = SubspaceSearch(5, dim=10).fit(data.X)
        for i, truth in enumerate(data.bases):
            members = data.X[data.labels == i]
            basis = search.search(examples=members[:10]).basis
            best = np.linalg.svd(members, full_matrices=False)[2][:10].T
            found.append(np.linalg.norm(basis @ basis.T - truth @ truth.T, 2))
            oracle.append(np.linalg.norm(best @ best.T - truth @ truth.T, 2))
    assert np.mean(found) <= 4 / 3 * np.mean(oracle)
