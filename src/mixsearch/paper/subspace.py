"""Moments of subspace clustering: section 3.4 of the paper, Theorem 13."""

import numpy as np

from mixsearch.paper.algorithms import Array, largest_eigenpairs


def moments(X: Array, v: Array, k: int, r: int) -> tuple[Array, Array, Array]:
    """Estimate (m, A, B) of samples x = U_i U_i'y + noise, with y ~ N(0, I) and noise ~ N(0, sigma^2 I).

    Parameters
    ----------
    X : array of shape (n, d)
        The samples.
    v : array of shape (d,)
        The hint, such as a sample of the first subspace. Section 3.4 asks for |U_1'v| > |U_i'v| for all others, but
        Theorem 6 needs |U_1'v|^2 > 3 |U_i'v|^2.
    k : int
        The number of subspaces.
    r : int
        The dimension of each, with kr below d; the paper calls it m.

    Returns
    -------
    m, A, B : arrays of shape (d,), (d, d) and (d, d)
        E[x], which is 0 in the model and which Algorithm 3 does not use; A = sum_i alpha_i U_i U_i'; and
        B = sum_i alpha_i |U_i'v|^2 U_i U_i' + 2 sum_i alpha_i U_i U_i' vv' U_i U_i'.

    Examples
    --------
    >>> import numpy as np
    >>> from mixsearch.paper import algorithms, subspace
    >>> rng = np.random.default_rng(0)
    >>> bases = np.linalg.qr(rng.normal(size=(2, 6, 2)))[0]
    >>> labels = rng.choice(2, size=20_000)
    >>> X = np.einsum("nij,nj->ni", bases[labels], rng.normal(size=(20_000, 2)))
    >>> X += 0.1 * rng.normal(size=X.shape)
    >>> _, A, B = subspace.moments(X, bases[0] @ [1.0, 1.0], 2, 2)
    >>> U = algorithms.subspace(A, B, 2, 2)
    >>> bool(np.allclose(U @ U.T, bases[0] @ bases[0].T, atol=0.1))
    True
    """
    n, d = X.shape
    # M_2 = E[xx'], and sigma^2 is its (mk+1)-th singular value
    M2 = X.T @ X / n
    noise = largest_eigenpairs(M2, k * r + 1)[0][-1]
    # A = M_2 - sigma^2 I
    A = M2 - noise * np.eye(d)
    # B = E[<x, v>^2 xx'] - sigma^2 (v'Av) I - sigma^2 |v|^2 A
    fourth = (X.T * (X @ v) ** 2) @ X / n
    B = fourth - noise * (v @ A @ v) * np.eye(d) - noise * (v @ v) * A
    #     - sigma^4 (|v|^2 I + 2 vv')
    # Corrected: section 3.4, Theorem 13 and Theorem 37 print vv' once; T_4 in the proof of Theorem 13 has 2 vv'.
    B -= noise**2 * ((v @ v) * np.eye(d) + 2 * np.outer(v, v))
    #     - 2 sigma^2 (Avv' + vv'A)
    cross = np.outer(A @ v, v)
    B -= 2 * noise * (cross + cross.T)
    return X.mean(axis=0), A, B
