"""Warnings about an answer, on planted data: they fire for wrong answers, and hardly for right ones."""

import numpy as np
import pytest
from tests.coded import raises, warns

from mixsearch import SubspaceSearch
from mixsearch.datasets import make_hint, make_subspaces
from mixsearch.errors import SearchError, collect_warnings

data = make_subspaces(6000, 30, 3, dim=2, deviation=0.3, random_state=0)
search = SubspaceSearch(3, dim=2).fit(data.X)
span, _ = np.linalg.qr(np.hstack(list(data.bases)))


def long_members(component, n, skip=0):
    """Take members that are longer than most: one near zero is near every subspace."""
    own = data.X[data.labels == component]
    lengths = np.linalg.norm(own @ data.bases[component], axis=1)
    return own[lengths > np.quantile(lengths, 0.7)][skip : skip + n]


def codes(fitted=search, **hint):
    with collect_warnings() as issued:
        answer = fitted.search(**hint)
    assert [str(warning) for warning in issued] == [str(warning) for warning in answer.warnings]
    return [warning.code for warning in answer.warnings]


@pytest.mark.parametrize("refine", [False, True])
def test_examples_that_disagree_are_named_and_right_ones_are_not(refine):
    alarms, hits = 0, 0
    for draw in range(20):
        members = long_members(draw % 3, 4, skip=4 * draw)
        alarms += bool(codes(examples=members, refine=refine))
        stranger = long_members((draw + 1) % 3, 1, skip=draw)
        hits += "examples_disagree" in codes(examples=np.vstack([members, stranger]), refine=refine)
    assert alarms <= 1
    assert hits >= 16


@pytest.mark.parametrize("refine", [False, True])
def test_directions_that_single_out_nothing_are_told_from_those_that_do(refine):
    rng, alarms, hits, n_warned = np.random.default_rng(2), 0, 0, 0
    for draw in range(20):
        drawn = rng.standard_normal(30)
        hits += "weak_hint" in codes(hint=drawn - span @ (span.T @ drawn), refine=refine)
        alarms += bool(codes(hint=make_hint(data.bases, draw % 3, gamma=0.9), refine=refine))
        # Projections of equal length onto two subspaces: whichever is found, the hint does not say so.
        along = rng.standard_normal((3, 2))
        along *= [[1.0], [1.0], [0.0]] / np.linalg.norm(along, axis=1, keepdims=True)
        tie = np.linalg.lstsq(np.hstack(list(data.bases)).T, along.ravel(), rcond=None)[0]
        n_warned += "weak_hint" in codes(hint=tie, refine=refine)
    assert alarms <= 1
    assert hits >= 16
    assert n_warned >= 16


@pytest.mark.filterwarnings("ignore")
def test_samples_that_do_not_follow_the_model_are_told_from_those_that_do():
    rng, alarms, hits = np.random.default_rng(4), 0, 0
    for seed in range(20):
        right = make_subspaces(1500, 12, 2, dim=2, deviation=0.3, random_state=seed)
        heavy = right.X * rng.standard_t(3, size=(1500, 1))
        for X in (right.X, heavy):
            fitted = SubspaceSearch(2, dim=2).fit(X)
            answer = fitted.search(examples=X[right.labels == 0][:6], refine=True)
            fires = "misfit" in [warning.code for warning in answer.warnings]
            alarms, hits = (alarms + fires, hits) if X is right.X else (alarms, hits + fires)
    assert alarms <= 1
    assert hits >= 16


def test_noise_alone_has_no_subspaces():
    with warns("component_count", n_signal=0):
        SubspaceSearch(dim=2).fit(np.random.default_rng(7).standard_normal((2000, 20)))


BAD = {
    "too_large": lambda X: 1e160 * X,
    "too_small": lambda X: 1e-160 * X,
    "rank_too_low": lambda X: np.ones((100, 30)),
    "too_few_samples": lambda X: X[:6],
    "text": lambda X: X.astype(str).astype(object) + "x",
}


@pytest.mark.parametrize("kind", BAD)
def test_bad_samples_are_refused_with_a_code(kind):
    with pytest.raises(SearchError) as caught:
        SubspaceSearch(3, dim=2).fit(BAD[kind](data.X))
    assert caught.value.code


def test_absurd_numbers_of_subspaces_and_dimensions_are_refused_at_once():
    for wrong in ({"n_components": 10**9}, {"n_components": 2, "dim": 10**9}):
        with raises("too_few_features"):
            SubspaceSearch(**wrong).fit(data.X)


def test_constant_features_half_precision_and_read_only_samples_are_as_good_as_any():
    X = np.column_stack([data.X, np.full(len(data.X), 3.0)]).astype(np.float16)
    X.flags.writeable = False
    found = SubspaceSearch(3, dim=2).fit(X).search(examples=X[data.labels == 0][:4], refine=True)
    truth = np.vstack([data.bases[0], np.zeros((1, 2))])
    assert np.linalg.norm(found.basis @ found.basis.T - truth @ truth.T, 2) < 0.2
