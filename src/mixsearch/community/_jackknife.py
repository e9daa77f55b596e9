"""Standard errors of a refined community."""

from __future__ import annotations

import numpy as np

from mixsearch.community._em import count_with_prior
from mixsearch.community._refinement import RefinedCommunity
from mixsearch.core.em import EMOptions
from mixsearch.core.jackknife import StandardErrors

# Prior log odds are shifted by this much: little enough for the response to be linear, and more than rounding.
_SHIFT = 0.05
_OPTIONS = EMOptions(max_iter=30, tol=1e-5)


def refined_community_errors(refined: RefinedCommunity) -> StandardErrors:
    """Return the standard errors of a refined community.

    Notes
    -----
    The posterior variance of the number of members is the derivative of its mean by prior log odds of a member. Shares
    and densities are estimated again, so that their own errors count, and the errors of nodes that depend on each
    other; those of single nodes alone, Σ p(1 - p), would be far too small. Where members were found by a random walk,
    its number and that of belief propagation differ by an error as well. How often the links of members lead to a node
    is a count, with the variance of one.
    """
    links, beliefs, index = refined.links, refined.beliefs, refined.index
    shift = _SHIFT * np.eye(len(beliefs.model.weights))[index]
    more, fewer = (count_with_prior(links, beliefs, side * shift, _OPTIONS)[index] for side in (1, -1))
    alone = float(np.sum(refined.membership * (1 - refined.membership)))
    apart = float(np.sum(refined.membership - beliefs.posterior[:, index]))
    variance = max(float(more - fewer) / (2 * _SHIFT), alone) + apart**2
    total = float(links.strengths @ refined.membership)
    squares = links.adjacency.power(2) @ refined.membership
    return StandardErrors(
        np.sqrt(squares) / max(total, np.finfo(np.float64).tiny), float(np.sqrt(variance)) / links.n_nodes
    )
