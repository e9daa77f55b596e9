import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from mixsearch.table.shapes import (
    SHAPES,
    GrownMixture,
    choose_mixture,
    exchange_components,
    grow_mixture,
    run_shaped_em,
)

D = 5


def rotation(rng):
    return np.linalg.qr(rng.normal(size=(D, D)))[0]


def draw(shape, *, sizes=(300, 200, 150), seed=0):
    """Gaussians of one shape, far from each other, and the component of each sample."""
    rng = np.random.default_rng(seed)
    deviations = {
        "spherical": lambda: rng.uniform(0.5, 1.5) * np.eye(D),
        "diagonal": lambda: np.diag(rng.permutation([0.2, 0.5, 1.0, 1.5, 2.0])),
        "low-rank": lambda: np.diag([3.0, *[0.4] * (D - 1)]) @ rotation(rng),
        "full": lambda: np.diag([0.2, 0.4, 0.8, 1.4, 2.4]) @ rotation(rng),
    }
    shared = np.diag([0.2, 0.4, 0.8, 1.4, 2.4]) @ rotation(rng)
    factors = [shared if shape == "tied" else deviations[shape]() for _ in sizes]
    centers = 12 * np.eye(D)[: len(sizes)]
    labels = np.repeat(np.arange(len(sizes)), sizes)
    X = np.vstack([c + rng.normal(size=(n, D)) @ f for c, f, n in zip(centers, factors, sizes, strict=True)])
    return X - X.mean(axis=0), labels


@pytest.mark.parametrize("shape", SHAPES)
def test_the_planted_number_and_shape_are_found(shape):
    X, labels = draw(shape)
    grown = choose_mixture(X)
    assert len(grown.mixture.weights) == 3
    assert adjusted_rand_score(labels, grown.resp.argmax(axis=1)) > 0.98
    # All axes but one of their own are as many parameters as full covariances.
    assert grown.mixture.shape in (shape, "low-rank" if shape == "full" else shape)


RNG = np.random.default_rng(6)
DEGENERATE = {
    "two rows": RNG.normal(size=(2, 3)),
    "three rows": RNG.normal(size=(3, 2)),
    "all rows equal": np.full((20, 3), 0.1),
    "all zeros": np.zeros((20, 3)),
    "two points": np.repeat(RNG.normal(size=(2, 3)), 30, axis=0),
    "ten points": np.repeat(RNG.normal(size=(10, 2)), 10, axis=0),
    "a constant column": np.column_stack([RNG.normal(size=(100, 2)), np.full(100, 0.3)]),
    "a repeated column": np.repeat(RNG.normal(size=(100, 1)), 3, axis=1),
    "one column": RNG.normal(size=(100, 1)),
    "fewer rows than columns": RNG.normal(size=(10, 30)),
    "an outlier": np.vstack([RNG.normal(size=(50, 2)), [[1e4, 1e4]]]),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", DEGENERATE)
def test_degenerate_rows_have_a_mixture(name, shape):
    X = DEGENERATE[name]
    grown = grow_mixture(X, shape, 15)
    assert np.isfinite(grown.criterion)
    assert np.isfinite(grown.mixture.centers).all()
    assert grown.resp.shape[0] == len(X)
    assert np.allclose(grown.resp.sum(axis=1), 1)


@pytest.mark.parametrize("name", ["two rows", "three rows", "all rows equal", "all zeros", "one column"])
def test_rows_without_groups_are_one_component(name):
    assert len(choose_mixture(DEGENERATE[name]).mixture.weights) == 1


@pytest.mark.parametrize("shape", SHAPES)
def test_a_number_of_components_is_kept_to(shape):
    X, _ = draw(shape)
    for k in (1, 2, 5):
        assert choose_mixture(X, shapes=(shape,), n_components=k).n_components == k


@pytest.mark.parametrize("shape", SHAPES)
def test_a_component_split_in_vain_is_exchanged_for_one_that_stands_for_two(shape):
    X, labels = draw(shape)
    is_half = X[:, 3] > np.median(X[labels == 0, 3])
    wrong = np.eye(3)[np.where(labels == 0, is_half.astype(int), 2)]
    mixture, resp, likelihood = run_shaped_em(X, wrong, shape, max_iter=5, tol=0)
    grown = GrownMixture(mixture, resp, mixture.bic(likelihood, len(X)))
    exchanged = exchange_components(X, grown)
    assert exchanged.n_components == 3
    assert adjusted_rand_score(labels, exchanged.resp.argmax(axis=1)) > 0.98
