"""Shared by all refined searches of one fit: a mixture that does not depend on the hint, and its evidence."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, NamedTuple

from mixsearch.core.em import EMOptions, EMResult
from mixsearch.subspace._em import SubspaceMixture, run_em_from
from mixsearch.subspace._expression import Nodes, SelfExpression, choose_ridge
from mixsearch.subspace._family import SubspaceFamily
from mixsearch.subspace._reconstruction import predicts_worse
from mixsearch.subspace._starts import best_mixture

# Samples that are compared with the mixture, and nodes of the graph that carries answers, at most.
MAX_COMPARED, MAX_NODES = 1000, 2000
# Numbers in them at most: with more than 10,000 features there are fewer nodes.
MAX_SIZE = 20_000_000
# Fewer samples have no held-out part to compare with.
MIN_NODES = 20


class SharedFit(NamedTuple):
    """The parts of a fit that do not depend on the hint."""

    mixture: EMResult[SubspaceMixture] | None = None  # fitted to all samples; None if samples carry the answers
    expression: SelfExpression | None = None  # samples that express each other, if these carry the answers


def share_fit(family: SubspaceFamily, options: EMOptions, self_expression: bool | Literal["auto"]) -> SharedFit:
    """Fit all subspaces without a hint, and find out whether the mixture or its samples carry answers.

    Parameters
    ----------
    family : SubspaceFamily
    options : EMOptions
    self_expression : bool or "auto"

    Returns
    -------
    SharedFit
    """
    few = _collect(family, MAX_COMPARED)
    nodes = Nodes.of(few.partitions.collect().partition.samples)
    if len(nodes.units) < max(MIN_NODES, 2 * family.n_components) or nodes.units.shape[1] < 2:
        return SharedFit()
    ridge = choose_ridge(nodes)
    if self_expression is True or (self_expression and predicts_worse(family, nodes, ridge, options)):
        if family.partitions.n_rows > len(nodes.units):
            nodes = Nodes.of(_collect(family, MAX_NODES).partitions.collect().partition.samples)
            ridge = choose_ridge(nodes)
        return SharedFit(expression=nodes.express(ridge))
    start = best_mixture(few, nodes.express(ridge).walk, options)
    return SharedFit(mixture=run_em_from(family, start, options))


def _collect(family: SubspaceFamily, max_samples: int) -> SubspaceFamily:
    """Return the same fit with some of its samples, evenly spread, in memory."""
    n, d = family.partitions.n_rows, len(family.frame.basis)
    step = -(-n // max(min(max_samples, MAX_SIZE // d), 1))
    return replace(family, partitions=family.partitions.thin(step).collect())
