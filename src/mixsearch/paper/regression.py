"""Moments of mixed linear regression: section 3.3 of the paper, Lemma 11 and Theorem 12."""

import numpy as np

from mixsearch.paper.algorithms import Array


def moments(X: Array, y: Array, v: Array) -> tuple[Array, Array, Array]:
    """Estimate (m, A, B) of regressions y = <x, mu_i> + noise with x ~ N(0, I).

    Parameters
    ----------
    X : array of shape (n, d)
        The samples, standard normal.
    y : array of shape (n,)
        Their responses.
    v : array of shape (d,)
        The hint, with <mu_1, v> > <mu_i, v> for all others, such as the mean of yx over a few samples of the first
        component.

    Returns
    -------
    m, A, B : arrays of shape (d,), (d, d) and (d, d)
        The moments (1), (2) and (3).

    Examples
    --------
    >>> import numpy as np
    >>> from mixsearch.paper import algorithms, regression
    >>> rng = np.random.default_rng(0)
    >>> centers = np.array([[2.0, 0.0, 0.0], [0.0, 2.0, 0.0]])
    >>> X, labels = rng.normal(size=(200_000, 3)), rng.choice(2, p=[0.4, 0.6], size=200_000)
    >>> y = np.sum(X * centers[labels], axis=1) + 0.1 * rng.normal(size=200_000)
    >>> m, A, B = regression.moments(X, y, np.array([1.0, 0.0, 0.0]))
    >>> center, weight = algorithms.whitening(A, B, m, 2)
    >>> bool(np.allclose(center, centers[0], atol=0.1)), round(weight, 1)
    (True, 0.4)
    """
    n, d = X.shape
    # M_11 = E[yx], M_22 = E[y^2 xx'], M_31 = E[y^3 x], M_33 = E[y^3 <x, v> xx']
    M11 = X.T @ y / n
    M22 = (X.T * y**2) @ X / n
    M31 = X.T @ y**3 / n
    M33 = (X.T * (y**3 * (X @ v))) @ X / n
    # tau^2 is the smallest singular value of M_22 (so there must be fewer components than features)
    noise = np.linalg.eigvalsh(M22)[0]
    # m = M_11, A = (M_22 - tau^2 I) / 2
    A = (M22 - noise * np.eye(d)) / 2
    # B = (M_33 - (M_31 v' + v M_31' + <M_31, v> I)) / 6
    # Corrected: the proof of Lemma 11 prints mu_i'v, a number, for the matrix mu_i v'. The lemma itself is right.
    cross = np.outer(M31, v)
    B = (M33 - cross - cross.T - (M31 @ v) * np.eye(d)) / 6
    return M11, A, B
