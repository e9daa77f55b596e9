"""Algorithm 1: the component is the top eigenvector of the whitened hinted moment."""

from __future__ import annotations

import numpy as np

from mixsearch.errors import NoMassError
from mixsearch.types import Candidates, Hinted


def extract_by_whitening(hinted: Hinted, *, choose: str = "largest", normaliser: str = "mean") -> Candidates:
    """Recover all components of a hinted frame, the one that the hint means first.

    Parameters
    ----------
    hinted : Hinted
        R = W'BW, W'm and the hint in the frame.
    choose : {"largest", "share"}
        The component of the largest score ⟨μᵢ, v⟩, as in the paper, or the one that accounts for the largest share
        αᵢ⟨μᵢ, v⟩² of the hint.
    normaliser : {"mean", "hinted"}
        What tells √αᵢ from the direction: m, or m' = Av with B.

    Notes
    -----
    The vectors uᵢ = √αᵢ W'μᵢ are orthonormal and are the eigenvectors of R, with eigenvalues ⟨μᵢ, v⟩ (Lemma 2). The
    overlap ⟨uᵢ, W'm⟩ is √αᵢ up to the sign of uᵢ; so is ⟨uᵢ, W'Av⟩ / ⟨μᵢ, v⟩.
    """
    scores, U = np.linalg.eigh((hinted.matrix + hinted.matrix.T) / 2)
    overlaps = U.T @ hinted.mean
    if normaliser == "hinted":
        overlaps = (U.T @ hinted.hint) / np.where(scores == 0, np.inf, scores)
    weights = overlaps**2
    preference = scores if choose == "largest" else np.sqrt(weights) * scores
    order = np.argsort(-preference, kind="stable")
    refuse_no_mass(float(weights[order[0]]), float(weights.sum()))
    safe = np.where(overlaps == 0, np.inf, overlaps)
    return Candidates((U / safe)[:, order], weights[order], scores[order], preference[order])


def refuse_no_mass(weight: float, total: float) -> None:
    """A component without weight has no center that the data could tell."""
    if not weight > 1e-14 * total:
        raise NoMassError(
            f"The component found has weight {weight:.3g} in the mixture, so its center cannot be told: "
            "the hint points away from every component. Try the opposite hint, -v, or fewer components."
        )
