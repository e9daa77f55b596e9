"""Search for a community: the scikit-learn face of block models."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import replace
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from mixsearch._typing import Array, GraphLike, Samples
from mixsearch.community._component import Community
from mixsearch.community._em import Beliefs, Links
from mixsearch.community._graph import Graph, as_graph
from mixsearch.community._moments import CommunityFamily, fit_community
from mixsearch.community._rank_selection import GraphSpectrum, find_spectrum
from mixsearch.community._refinement import fit_beliefs, refine_community
from mixsearch.core.doubts import add_doubts, check_lead, lower_trust
from mixsearch.core.em import EMOptions, em_options, not_refined
from mixsearch.core.estimator import BaseSearch, MixtureCache, RandomState
from mixsearch.core.extraction import Extraction, ExtractionOptions, extract_with_rehint
from mixsearch.core.hints import check_not_orthogonal, check_one_hint, hint_from_direction
from mixsearch.core.validation import AUTO, check_n_components
from mixsearch.data.partitions import partition_in_memory
from mixsearch.errors import (
    HintIgnoredWarning,
    Option,
    SearchError,
    SearchWarning,
    UnlikelyMixtureWarning,
    warn_user,
)

# A community of fewer expected members has been lost.
_MIN_MEMBERS = 1.0
# Communities must be ten times as likely as none, or the eigenvalue beyond the threshold was a matter of chance.
_MIN_GAIN = float(np.log(10))
# One of this share has swallowed the others, which were noise.
_MAX_SHARE = 0.99
_MAX_EIGENVALUES = 10
# Of the confidence in a community whose members avoid each other: as likely as not it is not the one meant.
_AVOIDING_TRUST = 0.5


class CommunitySearch(BaseSearch[CommunityFamily]):
    """Find one community of a graph from a few of its members.

    Parameters
    ----------
    n_components : int or "auto", default="auto"
        Number of communities. "auto" counts those that the links can show.
    random_state : int or RandomState, default=0
        Seed of the eigen-solver.

    Attributes
    ----------
    graph_ : Graph
        The graph, without self-loops.
    spectrum_ : GraphSpectrum
        The eigenvalues of the graph beside the detection threshold.
    n_components_ : int
        Number of communities of the fit.
    component_ : Community
        The community of the labelled nodes, if `fit` was given labels.

    See Also
    --------
    mixsearch.community.graph_from_links : A graph from a table of links.

    Notes
    -----
    The graph is taken as one of a stochastic block model with degrees of any distribution: the chance of a link depends
    on the communities of its two ends, and on how many links each end has. The moments are those of pairs and triples
    of neighbours of a node. Belief propagation then refines all communities, which a search only chooses from.

    References
    ----------
    A. Ray, S. Sanghavi, S. Shakkottai, "Searching for a Single Community in a Graph", 2018.

    Examples
    --------
    >>> from mixsearch import CommunitySearch
    >>> from mixsearch.datasets import make_communities
    >>> data = make_communities(2000, 4, mean_degree=20, signal=4.0, random_state=0)
    >>> search = CommunitySearch(n_components=4).fit(data.adjacency)
    >>> found = search.search(examples=data.known(2, 3))
    >>> bool(((found.membership > 0.5) == (data.labels == 2)).mean() > 0.9)
    True
    """

    graph_: Graph
    spectrum_: Any
    component_: Community

    def __init__(self, n_components: int | Literal["auto"] = "auto", *, random_state: RandomState = 0) -> None:
        self.n_components = n_components
        self.random_state = random_state

    def fit(self, X: GraphLike, y: ArrayLike | None = None, *, names: Iterable[Hashable] | None = None) -> Self:
        """Fit the communities of a graph. With labels, also find the community of the labelled nodes.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, n), networkx.Graph, igraph.Graph or Graph
            The adjacency matrix; entries are the weights of links.
        y : array of shape (n,), optional
            1 for the known members of the wanted community, -1 for all other nodes. If given, the community found is
            in `component_`.
        names : iterable of length n, optional
            The names of the nodes. Those of a graph object are taken from it.

        Returns
        -------
        self
        """
        requested = None if self.n_components == AUTO else check_n_components(self.n_components)
        self._forget("component_", "spectrum_")
        self.graph_ = as_graph(X, names)
        adjacency, seed = _as_counts(self.graph_.adjacency), self._draw_seed()
        self.n_features_in_ = self.graph_.n_nodes
        self.spectrum_ = find_spectrum(adjacency, None if requested is None else requested + 1, seed=seed)
        n_components = self.spectrum_.n_components if requested is None else requested
        self._family = fit_community(partition_in_memory(adjacency), n_components, seed=seed)
        self._links, self._beliefs = Links(adjacency), MixtureCache[Beliefs]()
        for doubt in _fit_doubts(self.spectrum_, n_components, is_requested=requested is not None):
            warn_user(doubt)
        if y is not None:
            self._search_labels(np.asarray(y).ravel())
        return self

    def search(
        self,
        hint: ArrayLike | None = None,
        *,
        examples: Hashable | Iterable[Hashable] | None = None,
        n_components: int | None = None,
        refine: bool = True,
        tol: float = 1e-3,
        max_iter: int | None = None,
        **extraction: Any,
    ) -> Community:
        """Find the community that a hint means.

        Parameters
        ----------
        hint : array of shape (n,), optional
            One number for each node, larger on average for the neighbours of members than for those of others.
        examples : name, number, or sequence of them, optional
            A few members.
        n_components : int, optional
            Use the first j of the fitted communities only.
        refine : bool, default=True
            Refine by belief propagation, once for all searches. The answer's `moment_estimate` is the one before.
        tol : float, default=1e-3
            Stop once beliefs change by less than this on average.
        max_iter : int, optional
            Maximum number of sweeps, 100 by default.
        **extraction
            How the community is read off the moments: the fields of `Extraction`.

        Returns
        -------
        Community
        """
        options: ExtractionOptions = {"rehint": True, **extraction}  # type: ignore[typeddict-item]
        how = Extraction.from_options(options, self.search)
        em = em_options(refine, tol, max_iter)
        family = self._select_family(n_components)
        if check_one_hint({"hint": hint, "examples": examples}) == "examples":
            nodes = self.graph_.find(examples)
            found = self._extract(family, self._hint_of_nodes(family, nodes), how)
            found = replace(found, _examples=nodes)
            members = np.zeros(self.graph_.n_nodes)
            members[nodes] = 1.0
        else:
            members = hint_from_direction(hint, self.graph_.n_nodes)
            check_not_orthogonal(family.frame, members, scale=float(np.linalg.norm(members)))
            found = self._extract(family, family.frame.project_hint(members - members @ family.link_mean), how)
        return self._check(found if em is None else self._refine(found, members, em))

    def _hint_of_nodes(self, family: CommunityFamily, nodes: Array) -> Array:
        """Return the hint in the frame: how much likelier than for any node it is to share neighbours with these."""
        rows: Any = self._links.adjacency[nodes]
        strengths = np.asarray(rows.sum(axis=1))
        if not strengths.any():
            raise SearchError(
                "The nodes named have no links, so that nothing is known about their community. Name others.",
                code="examples_without_links",
            )
        typical = family.frame.whiten(rows).sum(axis=0) / strengths.sum()
        return np.asarray(family.frame.values * (typical - family.mean))

    def _extract(self, family: CommunityFamily, hint: Array, how: Extraction) -> Community:
        hinted = family.hinted(hint)
        candidates, again = extract_with_rehint(family.hinted, hinted, family.frame, how)
        return Community(
            family.frame,
            candidates,
            _family=family,
            _hinted=hinted,
            _rehint=again,
            _choose=how.choose,
            _graph=self.graph_,
            _is_detectable=self.spectrum_.n_components > 1 or self.n_components == 1,
        )

    def _refine(self, found: Community, members: Array, options: EMOptions) -> Community:
        """Refine all communities once, and choose the one that the hint means."""
        family: Any = found._family
        if not found.is_detectable:
            return found
        beliefs = self._beliefs.get((family.n_components, options), lambda: fit_beliefs(family, self._links, options))
        if not beliefs.gain > _MIN_GAIN or beliefs.model.weights.max() > _MAX_SHARE:
            return replace(found, _is_detectable=family.n_components == 1)
        index = _choose(beliefs, members, found._examples)
        if not beliefs.posterior[:, index].sum() > _MIN_MEMBERS:
            return add_doubts(found, [not_refined()])
        return replace(found, _refined=refine_community(family, self._links, beliefs, index))

    def _check(self, found: Community) -> Community:
        """Return an answer with its doubts."""
        if not found.is_detectable:
            return add_doubts(found, [_undetectable(self.spectrum_)])
        fit = found._example_fit
        doubts: list[SearchWarning] = [*(check_lead(found) if fit is None else fit.doubts())]
        if found.inside < 1 and found.n_members > _MIN_MEMBERS:
            found, doubts = lower_trust(found, _AVOIDING_TRUST), [*doubts, _avoiding(found.inside)]
        return add_doubts(found, doubts)

    def _search_labels(self, labels: Array) -> None:
        if len(labels) != self.graph_.n_nodes:
            raise SearchError(
                "y has {n_labels} labels, but the graph has {n_nodes} nodes.",
                code="other_length",
                n_labels=len(labels),
                n_nodes=self.graph_.n_nodes,
            )
        members = np.flatnonzero(labels == 1)
        if not len(members):
            warn_user(
                HintIgnoredWarning("y marks no known member (y == 1), so no search was made and component_ is not set.")
            )
            return
        names = members.tolist() if self.graph_.names is None else [self.graph_.name(int(node)) for node in members]
        self.component_ = self.search(examples=names)

    def _whiten(self, X: Samples) -> Array:
        return self._family.frame.whiten(X)


def _as_counts(adjacency: Any) -> Any:
    """Return a graph with weights scaled so that their mean is their mean square, as for counts of rare events.

    A link of any weight is one observation: without this, weights in other units would count as more of them.
    """
    scaled = adjacency.copy()
    scaled.data *= scaled.data.sum() / np.sum(scaled.data**2)
    return scaled


def _choose(beliefs: Beliefs, members: Array, examples: Array | None) -> int:
    """Return the community that all labelled nodes are likeliest of, or whose nodes have the largest mean weight."""
    posterior = np.maximum(beliefs.posterior, np.finfo(np.float64).tiny)
    if examples is None:
        return int(np.argmax(members @ posterior / posterior.sum(axis=0)))
    together = np.log(posterior[examples]).sum(axis=0) - (len(examples) - 1) * np.log(posterior.mean(axis=0))
    return int(np.argmax(together))


def _fit_doubts(spectrum: GraphSpectrum, n_components: int, *, is_requested: bool) -> list[UnlikelyMixtureWarning]:
    """Return what speaks against this number of communities; an answer itself says that none can be told."""
    n_signal = spectrum.n_components
    facts = {"n_components": n_components, "n_signal": n_signal, "argument": Option("n_components")}
    if n_signal == 1 or not is_requested or n_signal == n_components:
        return []
    if n_signal > n_components:
        return [
            UnlikelyMixtureWarning(
                "More communities stand out in the links than {n_components}: those fitted may be several together. "
                "Fit more of them ({argument}).",
                code="too_few_components",
                **facts,
            )
        ]
    return [
        UnlikelyMixtureWarning(
            "{n_components} communities were requested, but only {n_signal} stand out in the links: some may be noise. "
            "Fit fewer of them ({argument}), or provide more links.",
            code="too_many_components",
            **facts,
        )
    ]


def _avoiding(inside: float) -> UnlikelyMixtureWarning:
    return UnlikelyMixtureWarning(
        "The members of the community found have {inside:.2g} times as many links among each other as by chance: they "
        "have the same neighbours, and hardly each other. This may not be what you mean by a community.",
        code="avoiding_members",
        inside=inside,
    )


def _undetectable(spectrum: GraphSpectrum) -> UnlikelyMixtureWarning:
    return UnlikelyMixtureWarning(
        "The links show no communities: those of a graph without any, but with the same degrees, would look alike. "
        "Nobody can tell members from others by such links, so every node has the same membership. Provide more links.",
        code="undetectable",
        eigenvalues=spectrum.values[:_MAX_EIGENVALUES].tolist(),
        threshold=spectrum.edge,
    )
