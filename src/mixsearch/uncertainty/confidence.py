"""Whether the hint picked the right component: how often the runner-up would have won on other samples."""

from __future__ import annotations

import numpy as np

from mixsearch.types import Array, Candidates, Hinted, Replicates
from mixsearch.uncertainty.jackknife import whitened

N_DRAWS = 1000
# Components further behind than this many have no chance to win.
MOST_RIVALS = 12


def chance_of_being_right(
    hinted: Hinted,
    candidates: Candidates,
    replicates: Replicates,
    *,
    choose: str,
    rank: int = 0,
    hint_noise: Array | None = None,
) -> float:
    """The part of imagined samples on which a component comes first.

    Parameters
    ----------
    hinted : Hinted
        R and W'm of all samples.
    candidates : Candidates
        All components, as these samples put them in order.
    replicates : Replicates
        Of the same hint.
    choose : {"largest", "share"}
        What puts the components in order.
    rank : int
        Which of them, 0 for the one found.
    hint_noise : array of shape (k, q), optional
        A factor F of the covariance FF' that the hint in the frame has by itself, where it is made of a few samples.

    Notes
    -----
    R and W'm of other samples are imagined as those of these, plus normal noise with the covariance that the
    jackknife gives. Where the eigenvector with the largest preference is no longer nearest to the one found, another
    component won. The noise of a hint moves the scores alone, each ⟨μᵢ, v⟩ by ⟨W'μᵢ, δ⟩.
    """
    rivals = slice(0, MOST_RIVALS)
    U = (candidates.points * np.sqrt(candidates.weights))[:, rivals]
    if U.shape[1] < 2:
        return 1.0
    matrices, means, _ = whitened(replicates)
    matrices, means = U.T @ matrices @ U, means @ U
    rng = np.random.default_rng(0)  # the same answer every time
    draws = rng.standard_normal((N_DRAWS, len(means))) * np.sqrt((len(means) - 1) / len(means))
    noisy = U.T @ hinted.matrix @ U + np.tensordot(draws, matrices - matrices.mean(axis=0), axes=1)
    mean = U.T @ hinted.mean + draws @ (means - means.mean(axis=0))
    if hint_noise is not None:
        moves = rng.standard_normal((N_DRAWS, hint_noise.shape[1])) @ (hint_noise.T @ candidates.points[:, rivals])
        noisy += moves[:, :, None] * np.eye(U.shape[1])
    scores, vectors = np.linalg.eigh((noisy + noisy.transpose(0, 2, 1)) / 2)
    preference = scores if choose == "largest" else np.abs(np.einsum("nij,ni->nj", vectors, mean)) * scores
    winner = np.take_along_axis(vectors, preference.argmax(axis=1)[:, None, None], axis=2)[:, :, 0]
    return float(np.mean(np.abs(winner).argmax(axis=1) == rank))
