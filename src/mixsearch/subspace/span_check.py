"""Whether the span of all subspaces is more than noise and large enough, and if not, what it means for an answer."""

from __future__ import annotations

import numpy as np
from scipy.stats import norm

from mixsearch._typing import Array
from mixsearch.core.doubts import trust
from mixsearch.core.jackknife import jackknife
from mixsearch.core.noise_edge import SignalCheck, no_signal
from mixsearch.display import pluralize
from mixsearch.errors import Option, UnlikelyMixtureWarning
from mixsearch.subspace.family import SubspaceFamily

# A fit whose span has less than this share of what stands out has no subspace that moments find right.
MIN_SHARE = 0.95
_ADVICE = "Fit more of them ({argument}), or larger ones ({dim_argument})."


def needs_more_directions(family: SubspaceFamily) -> bool:
    """Return whether more directions stand out from the noise than the subspaces of a fit have together."""
    return family.check is not None and family.check.n_signal > family.frame.n_components


def has_no_signal(family: SubspaceFamily) -> bool:
    """Return whether noise alone would give such samples."""
    return family.check is not None and family.check.n_signal == 0


def fit_doubts(family: SubspaceFamily) -> list[UnlikelyMixtureWarning]:
    """Return the doubts about this number of subspaces."""
    if has_no_signal(family):
        return [_no_signal(family)]
    if not needs_more_directions(family):
        return []
    sentence = (
        "{n_signal} directions stand out from the noise, but {n_components} "
        + pluralize(family.n_components, "subspace of dimension {dim} has", "subspaces of dimension {dim} have")
        + " {n_used} at most. "
    )
    return [_too_few(family, sentence)]


def _too_few(family: SubspaceFamily, sentence: str) -> UnlikelyMixtureWarning:
    return UnlikelyMixtureWarning(
        sentence + _ADVICE,
        code="too_few_components",
        n_signal=0 if family.check is None else family.check.n_signal,
        n_components=family.n_components,
        dim=family.dim,
        n_used=family.frame.n_components,
        argument=Option("n_components"),
        dim_argument=Option("dim"),
    )


def no_whole_subspaces(n_signal: int, dim: int, n_components: int) -> UnlikelyMixtureWarning:
    """Return the doubt that the directions that were counted do not make whole subspaces."""
    return UnlikelyMixtureWarning(
        "{n_signal} "
        + pluralize(n_signal, "direction stands out", "directions stand out")
        + " from the noise, which is not a multiple of {dim_argument}={dim}; the fit uses {n_components} "
        + pluralize(n_components, "subspace")
        + ". Check {dim_argument}, or set {argument} to a number.",
        code="no_whole_subspaces",
        n_signal=n_signal,
        dim_argument=Option("dim"),
        dim=dim,
        n_components=n_components,
        argument=Option("n_components"),
    )


def span_doubts(family: SubspaceFamily, trusted: float) -> list[UnlikelyMixtureWarning]:
    """Return the doubt that a subspace is noise, or mixed of several, given what that leaves of its confidence."""
    if trusted == 1:
        return []
    if has_no_signal(family):
        return [_no_signal(family)]
    sentence = (
        "The subspace found may be mixed of several: its samples vary outside of it, since {n_components} "
        + pluralize(family.n_components, "subspace")
        + " of dimension {dim} cannot hold the {n_signal} directions that stand out from the noise. "
    )
    return [_too_few(family, sentence)]


def trust_in_moments(family: SubspaceFamily, directions: Array) -> float:
    """Return what is left of the confidence in a subspace that moments found if the span does not suit the samples.

    Notes
    -----
    The fourth moment contracted with the directions G of a subspace is a multiple of GG'. In a span without room for
    all subspaces they are not orthogonal, and others add to its trace outside of G.
    """
    if family.check is None or not needs_more_directions(family):
        return 0.0 if has_no_signal(family) else 1.0
    share = family.check.share_of(family.frame.n_components)
    matrices = family.leave_one_out(directions.T).hinted
    traces = np.trace(matrices, axis1=1, axis2=2) - np.einsum("pr,bpq,qr->b", directions, matrices, directions)
    error = float(jackknife(traces))
    p_value = float(norm.sf(traces.mean() / error)) if error > 0 else 1.0
    return trust(p_value) * (share if share < MIN_SHARE else 1.0)


def trust_in_members(family: SubspaceFamily, check: SignalCheck) -> float:
    """Return what is left of the confidence in a refined subspace if the span does not suit the samples."""
    if has_no_signal(family):
        return 0.0
    return check.share_of(family.dim) if needs_more_directions(family) else 1.0


def _no_signal(family: SubspaceFamily) -> UnlikelyMixtureWarning:
    k = family.n_components
    return no_signal(f"{k} subspaces" if k > 1 else "one subspace")
