"""From population moments, every method and every model returns the component to 1e-8."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from tests.populations import Mixture, draw_mixture, frame_of, mixtures, sizes, whitener

from mixsearch.core.component import Component
from mixsearch.core.extraction import extract_by_whitening
from mixsearch.core.moments import Hinted
from mixsearch.paper.algorithms import cancellation
from mixsearch.subspace import Noise, extract_subspace, subtract_noise

seeds = st.integers(0, 2**32 - 1)


def assert_is_first(found, mixture):
    scale = np.linalg.norm(mixture.centers[0])
    assert_allclose(found.center, mixture.centers[0], atol=1e-8 * scale)
    assert found.weight == pytest.approx(mixture.weights[0], rel=1e-8)


def find_component(mixture: Mixture, hinted: np.ndarray) -> Component:
    W = whitener(mixture.frame)
    return Component(mixture.frame, extract_by_whitening(Hinted(W.T @ hinted @ W, W.T @ mixture.mean, mixture.hint)))


@pytest.mark.parametrize("lead", [1.2, 5.0])
@pytest.mark.parametrize("k", [10, 20, 50])
def test_whitening_returns_the_component_of_many(k, lead):
    drawn = draw_mixture(k, k, k + 30)
    scores = np.concatenate([[lead], np.random.default_rng(k).uniform(0.0, 1.0, size=k - 2), [1.0]])
    mixture = Mixture(drawn.centers, drawn.weights, np.linalg.pinv(drawn.centers) @ scores)
    found = find_component(mixture, mixture.hinted)
    assert_is_first(found, mixture)
    assert found.separation == pytest.approx(lead, rel=1e-8)


@given(mixture=mixtures)
def test_cancellation_is_whitening(mixture):
    k, noisy = len(mixture.weights), np.random.default_rng(len(mixture.hint)).normal(size=mixture.hinted.shape) * 1e-3
    hinted = mixture.hinted + noisy + noisy.T
    found = find_component(mixture, hinted)
    center, weight = cancellation(mixture.second, hinted, mixture.mean, k, projected=True)
    assert_allclose(found.center, center, atol=1e-8 * np.linalg.norm(center))
    assert found.weight == pytest.approx(weight, rel=1e-8)


@given(seed=seeds, size=sizes)
def test_where_every_score_is_negative_whitening_finds_the_least_negative_one(seed, size):
    k, d = size
    drawn = draw_mixture(seed, k, d)
    scores = -np.concatenate([[0.5], np.random.default_rng(seed).uniform(1.0, 3.0, size=k - 1)])
    mixture = Mixture(drawn.centers, drawn.weights, np.linalg.pinv(drawn.centers) @ scores)
    found = find_component(mixture, mixture.hinted)
    assert_is_first(found, mixture)
    assert found.separation > 1


@given(mixture=mixtures)
def test_scores_and_alternatives_are_those_of_the_mixture(mixture):
    found = find_component(mixture, mixture.hinted)
    order = np.argsort(-mixture.scores)
    assert_is_first(found, mixture)
    assert_allclose(found.scores, mixture.scores[order], atol=1e-8)
    if len(order) > 1 and mixture.scores[order[1]] > 1e-6:
        assert found.separation == pytest.approx(mixture.scores[order[0]] / mixture.scores[order[1]])
    gaps = np.diff(np.sort(mixture.scores))
    if len(gaps) and gaps.min() > 1e-3:
        for place, other in zip(order[1:], found.alternatives, strict=True):
            assert_allclose(other.center, mixture.centers[place], atol=1e-5)
            assert other.weight == pytest.approx(mixture.weights[place], rel=1e-4)


@given(seed=seeds, k=st.integers(1, 5), r=st.integers(1, 4), room=st.integers(1, 150), several=st.booleans())
def test_subspace_moments(seed, k, r, room, several):
    rng = np.random.default_rng(seed)
    d = k * r + room
    bases = np.linalg.qr(rng.normal(size=(d, k * r)))[0].T.reshape(k, r, d).transpose(0, 2, 1)
    turned = bases + 0.1 * rng.normal(size=bases.shape) / np.sqrt(d)
    bases = np.linalg.qr(turned)[0]
    weights = rng.uniform(1, 3, size=k)
    weights, s2 = weights / weights.sum(), rng.uniform(0.01, 1.0)
    covariances = [U @ U.T + s2 * np.eye(d) for U in bases]
    A = sum(a * U @ U.T for a, U in zip(weights, bases, strict=True))
    points = (bases[0] @ rng.normal(size=(r, r if several else 1))).T
    frame = frame_of(A, k * r)
    # Isserlis for N(0, C): E[<x,v>^2 xx'] = (v'Cv) C + 2 Cvv'C.
    fourth = sum(
        a * ((v @ C @ v) * C + 2 * np.outer(C @ v, C @ v)) / len(points)
        for a, C in zip(weights, covariances, strict=True)
        for v in points
    )
    V, root, inside = frame.basis, np.sqrt(frame.values), points @ frame.basis
    noise = Noise(s2, s2 * np.diag(frame.values), s2**2)
    B = subtract_noise(V.T @ fourth @ V, inside.T @ inside / len(inside), noise)
    directions, separation = extract_subspace(B / np.outer(root, root), r)
    span = np.linalg.svd(frame.unwhiten(directions), full_matrices=False)
    assert_allclose(span[0] @ span[0].T, bases[0] @ bases[0].T, atol=1e-8)
    assert np.mean(span[1] ** 2) == pytest.approx(weights[0], rel=1e-8)
    assert separation > 1


@pytest.mark.parametrize("choose", ["largest", "share"])
@given(mixture=mixtures)
def test_choosing_follows_scores_or_shares(choose, mixture):
    frame = mixture.frame
    W = whitener(frame)
    hinted = Hinted(W.T @ mixture.hinted @ W, W.T @ mixture.mean, frame.project_hint(mixture.hint))
    candidates = extract_by_whitening(hinted, choose)
    best = int(np.argmax(mixture.scores if choose == "largest" else np.sqrt(mixture.weights) * mixture.scores))
    assert_allclose(
        frame.unwhiten(candidates.points[:, 0]),
        mixture.centers[best],
        atol=1e-7 * np.linalg.norm(mixture.centers[best]),
    )
