"""Algorithms 1, 2 and 3 of the paper: from the moments (m, A, B) to one component.

Section 2.1 defines the moments of a mixture with parameters mu_1..mu_k, weights alpha_1..alpha_k and a hint v:

    m = sum_i alpha_i mu_i                    (1)
    A = sum_i alpha_i mu_i mu_i'              (2)
    B = sum_i alpha_i <mu_i, v> mu_i mu_i'    (3)

Numbered comments are the printed lines of an algorithm, in the paper's words. Other comments explain or correct them.
"""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def whitening(A: Array, B: Array, m: Array, k: int) -> tuple[Array, float]:
    """Extract the component with the largest <mu_i, v>: Algorithm 1, the whitening method.

    Parameters
    ----------
    A, B, m : arrays of shape (d, d), (d, d) and (d,)
        The moments (2), (3) and (1).
    k : int
        The number of components.

    Returns
    -------
    center, weight : array of shape (d,), and float
        mu_1 and alpha_1.

    Notes
    -----
    Section 2.1.1. Lemma 2: the vectors u_i = sqrt(alpha_i) D^(-1/2) V' mu_i are orthonormal and are the eigenvectors of
    D^(-1/2) V' B V D^(-1/2), with eigenvalues <mu_i, v>. So exact moments return the component exactly. Theorem 1: an
    error of epsilon in the moments changes the component by O(epsilon).

    Examples
    --------
    >>> import numpy as np
    >>> from mixsearch.paper.algorithms import whitening
    >>> centers, weights = np.array([[2.0, 0.0, 0.0], [1.0, 1.0, 0.0]]), np.array([0.25, 0.75])
    >>> v = np.array([1.0, 0.0, 0.0])
    >>> A, B = (centers.T * weights) @ centers, (centers.T * weights * (centers @ v)) @ centers
    >>> center, weight = whitening(A, B, weights @ centers, 2)
    >>> bool(np.allclose(center, [2, 0, 0])), round(weight, 6)
    (True, 0.25)
    """
    # 1: let {sigma_j, v_j} be the singular values and singular vectors of A, in non-increasing order
    # 2: let V be the d x k matrix whose jth column is v_j
    # 3: let D be the k x k diagonal matrix with D_jj = sigma_j
    sigma, V = largest_eigenpairs(A, k)  # Theorem 1 assumes that A is positive semi-definite
    W = V / np.sqrt(sigma)  # V D^(-1/2), (d, k)
    # 4: let u be the largest eigenvector of D^(-1/2) V' B V D^(-1/2)
    u = largest_eigenpairs(W.T @ B @ W, 1)[1][:, 0]
    # 5: let w = V D^(1/2) u
    w = V @ (np.sqrt(sigma) * u)
    # 6: let E be the span of {V D^(1/2) v: v perpendicular to u}
    # 7: write V V' m (uniquely) as a w + y, where y is in E
    # (The proof of Lemma 2 prints sum_i alpha_i mu_1 for m = sum_i alpha_i mu_i.)
    a = u @ W.T @ m  # D^(-1/2) V' maps w to u, and E to the complement of u
    # 8: return w/a and a^2
    return w / a, float(a**2)


def cancellation(
    A: Array,
    B: Array,
    m: Array,
    k: int,
    *,
    projected: bool = False,
    threshold: float | None = None,
    v: Array | None = None,
) -> tuple[Array, float]:
    """Extract the component with the largest <mu_i, v>: Algorithm 2, the cancellation method.

    Parameters
    ----------
    A, B, m : arrays of shape (d, d), (d, d) and (d,)
        The moments (2), (3) and (1).
    k : int
        The number of components.
    projected : bool, default=False
        Project all moments on the k largest eigenvectors of A before line 3. The printed algorithm does so in line 2
        only, and noise from outside the signal space enters its answer.
    threshold : float, optional
        Use the first rule of section 4.1 for lambda: the smallest at which the k-th singular value of V'(A - lambda B)V
        falls below this fraction of the k-th singular value of A.
    v : array of shape (d,), optional
        The hint. If given, m' = Av and B take the places of m and A from line 5 on, as in the paper's experiments.

    Returns
    -------
    center, weight : array of shape (d,), and float
        mu_1 and alpha_1.

    Notes
    -----
    Section 2.1.2. Lemmas 4 and 5: A - lambda B loses the component at lambda = 1 / <mu_1, v>, where it stops being
    positive semi-definite. Theorem 3 bounds the error. If `projected`, and with neither `threshold` nor `v`, the answer
    is that of `whitening`: the null vector of A - lambda B in the signal space is V D^(-1/2) u.

    The second rule of section 4.1, the minimum of |V'(A - lambda B)V|_* + lambda, is left out: as printed it gives
    lambda = 0 for a word as the hint, because the slope at 0 is 1 - tr V'BV and words have a trace far below 1; with
    the hint scaled to a trace just above 1, the minimum is where the matrix stops being positive semi-definite.

    Examples
    --------
    >>> import numpy as np
    >>> from mixsearch.paper.algorithms import cancellation
    >>> A, B, m = np.diag([1.0, 3.0, 0.0]), np.diag([2.0, 0.0, 0.0]), np.array([0.5, 1.5, 0.0])
    >>> center, weight = cancellation(A, B, m, 2)
    >>> bool(np.allclose(center, [2, 0, 0])), round(weight, 6)
    (True, 0.25)
    """
    # 1: let V be the d x k matrix of k largest eigenvectors of A
    sigma, V = largest_eigenpairs(A, k)
    # 2: search over lambda to find the largest lambda* such that V V' (A - lambda B) V V' is PSD
    # No search is needed: A - lambda B is PSD on the signal space up to one over the largest generalised eigenvalue of
    # (B, A). (The remark on the optimisation for lambda* prints "smallest" for "largest".)
    W = V / np.sqrt(sigma)
    scores = np.linalg.eigvalsh(W.T @ B @ W)  # <mu_i, v>, rising
    # If B is negative semi-definite, the paper searches for the smallest lambda < 0.
    rate = 1 / scores[-1] if scores[-1] > 0 else 1 / scores[0]
    if threshold is not None:
        # Section 4.1. Up to lambda* the k-th singular value falls, so halve the interval, 60 times to the last digit.
        low, high = 0.0, rate
        for _ in range(60):
            rate = (low + high) / 2
            is_above = np.linalg.svd(V.T @ (A - rate * B) @ V)[1][-1] > threshold * sigma[-1]
            low, high = (rate, high) if is_above else (low, rate)
    if projected:
        P = V @ V.T
        A, B, m = P @ A @ P, P @ B @ P, P @ m
    # 3: let Z = A - lambda* B, and let {v_2, ..., v_k} be the top k-1 singular vectors of Z
    # 4: let V_1:(k-1) be the d x (k-1) matrix with columns {v_2, ..., v_k}
    span = np.linalg.svd(A - rate * B)[0][:, : k - 1]  # of mu_2, ..., mu_k
    if v is not None:
        m, A = A @ v, B
    # 5: let x_1 = m - V_1:(k-1) V_1:(k-1)' m
    x = m - span @ (span.T @ m)
    # 6: let v_1 = x_1 / |x_1|
    length = np.linalg.norm(x)
    basis = np.column_stack([x / length, span])
    # 7: compute c_i = v_1' A v_i for i = 1 to k
    c = basis[:, 0] @ A @ basis
    # 8: let a_i = c_i / |x_1| for i = 1 to k
    a = c / length
    # 9: return mu_1 = sum_i a_i v_i and alpha_1 = c_1 / a_1^2
    weight = c[0] / a[0] ** 2
    # Corrected: with m' = Av and B the printed weight is alpha_1 <mu_1, v>, and lambda* = 1 / <mu_1, v>.
    return basis @ a, float(weight if v is None else weight * rate)


def subspace(A: Array, B: Array, k: int, r: int) -> Array:
    """Extract the subspace with the largest |U_i'v|: Algorithm 3.

    Parameters
    ----------
    A, B : array of shape (d, d)
        The moments of section 3.4, from `mixsearch.paper.subspace.moments`.
    k : int
        The number of subspaces.
    r : int
        The dimension of each; the paper calls it m.

    Returns
    -------
    array of shape (d, r)
        An orthonormal basis U_1.

    Notes
    -----
    Theorem 27 (appendix F): for each subspace, D^(-1/2) V' B V D^(-1/2) has the eigenvalue 3 |U_i'v|^2 once and
    |U_i'v|^2 r - 1 times. So the r largest belong to one subspace if |U_i'v|^2 < |U_1'v|^2 / 3 for all others. Theorem
    6 bounds the error under this condition. (Both theorems print |U_i v| for |U_i'v|.)

    Examples
    --------
    >>> import numpy as np
    >>> from mixsearch.paper.algorithms import subspace
    >>> U = np.eye(5)
    >>> first, second = U[:, :2], U[:, 2:4]
    >>> A = 0.4 * first @ first.T + 0.6 * second @ second.T
    >>> v = U[:, 0] + U[:, 1]
    >>> B = 0.4 * (2 * first @ first.T + 2 * np.outer(v, v))
    >>> basis = subspace(A, B, 2, 2)
    >>> bool(np.allclose(basis @ basis.T, first @ first.T))
    True
    """
    # 1: let {sigma_j, v_j} be the singular values and singular vectors of A, in non-increasing order
    # 2: let V be the d x mk matrix whose jth column is v_j
    # 3: let D be the mk x mk diagonal matrix with D_jj = sigma_j
    sigma, V = largest_eigenpairs(A, k * r)
    W = V / np.sqrt(sigma)
    # 4: let Y = [u_1, ..., u_m] be the matrix of m largest eigenvectors of D^(-1/2) V' B V D^(-1/2)
    Y = largest_eigenpairs(W.T @ B @ W, r)[1]
    # 5: let Z = V D^(1/2) Y
    Z = (V * np.sqrt(sigma)) @ Y
    # 6: let the columns of U be the m eigenvectors of the matrix ZZ'
    return largest_eigenpairs(Z @ Z.T, r)[1]


def largest_eigenpairs(matrix: Array, k: int) -> tuple[Array, Array]:
    """Return the k largest eigenvalues of a symmetric matrix, falling, and their eigenvectors, (d, k)."""
    values, vectors = np.linalg.eigh(matrix)
    return values[::-1][:k], vectors[:, ::-1][:, :k]
