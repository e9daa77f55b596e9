"""Search in graphs: fit once, then find the community that a hint means."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from contextlib import suppress
from dataclasses import replace
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from mixsearch._typing import Array, GraphLike, Samples
from mixsearch.community.component import Community
from mixsearch.community.em import Beliefs, Links, estimate_model
from mixsearch.community.graph import Graph, as_graph
from mixsearch.community.moments import CommunityFamily, fit_community
from mixsearch.community.refinement import (
    Closure,
    RefinedCommunity,
    RefinedGraph,
    choose_community,
    communities_meant,
    count_assortative,
    measure_closure,
    refine_community,
    refine_graph,
    rough_closure,
    walk_agreement,
    walk_membership,
)
from mixsearch.community.spectrum import MAX_COMMUNITIES, GraphSpectrum, find_spectrum
from mixsearch.confidence import check_lead, lower_trust
from mixsearch.core.component import add_warnings
from mixsearch.core.estimator import BaseSearch, MixtureCache, RandomState
from mixsearch.core.extraction import Extraction, ExtractionOptions, extract_with_rehint
from mixsearch.core.rows import chunk_in_memory
from mixsearch.core.validation import (
    AUTO,
    check_n_components,
    check_not_orthogonal,
    check_one_hint,
    hint_from_direction,
)
from mixsearch.errors import (
    HintIgnoredWarning,
    Option,
    RankError,
    SearchError,
    SearchWarning,
    UnlikelyMixtureWarning,
    warn_user,
)
from mixsearch.graph.walk import Walk
from mixsearch.mixture.em import EMOptions, check_em_options, not_refined

# A community of fewer expected members has been lost.
_MIN_MEMBERS = 1.0
# "auto" fits this many at first. If more than half of them are communities of their own, there are more to count.
_MAX_TRIED = 32
# Beliefs settle to this accuracy by default.
_TOL = 1e-3
# Of the confidence in a community whose members avoid each other: as likely as not it is not the one meant.
_AVOIDING_TRUST = 0.5
# If links do not follow the model, the confidence is multiplied by this power of the agreement with a random walk.
# By the Brier score, 1 and 2 are alike (benchmarks/community_fit.py); 2 keeps wrong answers further from sure.
_AGREEMENT_POWER = 2
# And by this: of the answers that would be sure otherwise, nine of ten were right on the graphs that constants were
# chosen on (benchmarks/community_graphs.py). There are communities within communities, and a hint may mean another one.
NOT_BLOCK_TRUST = 0.9
_MAX_EIGENVALUES = 10


class CommunitySearch(BaseSearch[CommunityFamily]):
    """Find one community of a graph from a few of its members.

    Parameters
    ----------
    n_components : int or "auto", default="auto"
        Number of communities. "auto" counts those that the links can show, and refines them on the way.
    random_state : int or RandomState, default=0
        Seed of the eigen-solver.

    Attributes
    ----------
    graph_ : Graph
        The graph, without self-loops.
    spectrum_ : GraphSpectrum
        The eigenvalues of the graph, compared with the detection threshold.
    n_components_ : int
        Number of communities of the fit.
    component_ : Community
        The community of the labelled nodes, if `fit` was given labels.

    Notes
    -----
    The model is a degree-corrected stochastic block model: the probability of a link depends on the communities of its
    two ends, and on how many links each end has. The moments are those of pairs and triples of neighbours of a node.
    Belief propagation then refines all communities; a search chooses one of them. If the links do not follow such a
    model, communities must be linked more within than between them, and a random walk from the labelled nodes and their
    community finds the members.

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
        self.n_features_in_, seed = self.graph_.n_nodes, self._draw_seed()
        self._links = Links.from_adjacency(self.graph_.adjacency)
        self._refined, self._walk = MixtureCache[RefinedGraph](), MixtureCache[Walk]()
        if requested is None:
            self.spectrum_, self._family = self._count_communities(seed)
        else:
            self.spectrum_ = find_spectrum(self._links.adjacency, requested + 1, seed=seed)
            self._family = fit_community(chunk_in_memory(self._links.adjacency), requested, seed=seed)
            for warning in fit_warnings(self.spectrum_, requested):
                warn_user(warning)
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
        tol: float = _TOL,
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
        em = check_em_options(refine, tol, max_iter)
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
        return self._check(found if em is None else self._refine(found, members, em), members)

    def _count_communities(self, seed: int) -> tuple[GraphSpectrum, CommunityFamily]:
        """Fit as many communities as the links show; those of graphs that follow no block model are counted apart."""
        adjacency = self._links.adjacency
        chunks = chunk_in_memory(adjacency)
        spectrum = find_spectrum(adjacency, max_values=_MAX_TRIED, seed=seed)
        family = fit_community(chunks, spectrum.n_components, seed=seed)
        default: Any = check_em_options(True, _TOL, None)
        if spectrum.n_components == _MAX_TRIED:  # most will be left out, and are not worth refining
            is_explained = rough_closure(family, self._links).is_explained
        else:
            is_explained = spectrum.n_components == 1 or self._refine_graph(family, default).closure.is_explained
        if is_explained and spectrum.n_components == _MAX_TRIED:
            spectrum = find_spectrum(adjacency, seed=seed)
        n_components = spectrum.n_components if is_explained else self._count_assortative(default)
        if n_components > family.n_components:
            # The common neighbours of a small graph may show fewer directions than it has communities.
            with suppress(RankError):
                family = fit_community(chunks, n_components, seed=seed)
        return spectrum, family.take(min(n_components, family.n_components))

    def _count_assortative(self, options: EMOptions) -> int:
        """Count the communities whose members are linked with each other, among at least twice as many rough ones."""
        n_tried = _MAX_TRIED
        while True:
            n_components = count_assortative(self._links, n_tried, options)
            if 2 * n_components <= n_tried or n_tried >= MAX_COMMUNITIES:
                return n_components
            n_tried *= 2

    def _refine_graph(self, family: CommunityFamily, options: EMOptions) -> RefinedGraph:
        """Refine all communities, once for each number of them."""
        return self._refined.get((family.n_components, options), lambda: refine_graph(family, self._links, options))

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
        graph = self._refine_graph(family, options)
        beliefs = graph.beliefs
        if not beliefs.shows_communities:
            return replace(found, _is_detectable=family.n_components == 1)
        index = choose_community(beliefs, members, found._examples)
        if not beliefs.posterior[:, index].sum() > _MIN_MEMBERS:
            return add_warnings(found, [not_refined()])
        membership = self._membership(beliefs, index, found._examples)
        return replace(found, _refined=refine_community(family, self._links, graph, index, membership))

    def _membership(self, beliefs: Beliefs, index: int, examples: Array | None) -> Array:
        """Return the probability that each node is a member, (n,): by a walk if links do not follow the model."""
        if examples is None or not beliefs.is_assortative:
            return np.asarray(beliefs.posterior[:, index])
        community = beliefs.posterior[:, communities_meant(beliefs.posterior, examples, index)].sum(axis=1)
        return walk_membership(self._random_walk(), self._links.strengths, examples, community)

    def _check(self, found: Community, members: Array) -> Community:
        """Return an answer with its warnings."""
        if not found.is_detectable:
            return add_warnings(found, [undetectable(self.spectrum_)])
        fit = found._example_fit
        warnings: list[SearchWarning] = [*(check_lead(found) if fit is None else fit.warnings(found._example_names))]
        closure = self._measure_closure(found)
        if len(found.scores) > 1 and not closure.is_explained:
            agreement = self._agree_with_walk(found, members)
            found = lower_trust(found, NOT_BLOCK_TRUST * agreement**_AGREEMENT_POWER)
            warnings.append(not_block_model(closure.ratio, agreement))
        if found.inside < 1 and found.n_members > _MIN_MEMBERS:
            found, warnings = lower_trust(found, _AVOIDING_TRUST), [*warnings, avoiding_members(found.inside)]
        return add_warnings(found, warnings)

    def _measure_closure(self, found: Community) -> Closure:
        """Measure whether the communities explain the links between neighbours."""
        if isinstance(found._refined, RefinedCommunity):
            return found._refined.closure
        posterior = found._posterior
        return measure_closure(self._links, posterior, estimate_model(self._links, posterior))

    def _agree_with_walk(self, found: Community, members: Array) -> float:
        """Return the share of the community that a random walk from the nodes of the hint finds."""
        starts = np.maximum(members - self._links.strengths @ members / self._links.strengths.sum(), 0)
        starts = np.where(self._links.degrees > 0, starts, 0)
        return walk_agreement(self._random_walk(), starts, found._posterior[:, 0])

    def _random_walk(self) -> Walk:
        adjacency = self._links.adjacency
        return self._walk.get(None, lambda: Walk.on(adjacency, adjacency.data))

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


def fit_warnings(spectrum: GraphSpectrum, n_components: int) -> list[UnlikelyMixtureWarning]:
    """Return warnings about the number of communities requested; none at all is a warning of the answer."""
    n_signal = spectrum.n_components
    facts = {"n_components": n_components, "n_signal": n_signal, "argument": Option("n_components")}
    if n_signal == 1 or n_signal == n_components:
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


def avoiding_members(inside: float) -> UnlikelyMixtureWarning:
    return UnlikelyMixtureWarning(
        "The members of the community found have {inside:.2f} times as many links among each other as by chance: they "
        "have the same neighbours, and hardly each other. This may not be what you mean by a community.",
        code="avoiding_members",
        inside=inside,
    )


def undetectable(spectrum: GraphSpectrum) -> UnlikelyMixtureWarning:
    return UnlikelyMixtureWarning(
        "The links show no communities: those of a graph without any, but with the same degrees, would look alike. "
        "Nobody can tell members from others by such links, so every node has the same membership. Provide more links.",
        code="undetectable",
        eigenvalues=spectrum.values[:_MAX_EIGENVALUES].tolist(),
        threshold=spectrum.edge,
    )


def not_block_model(ratio: float, agreement: float) -> UnlikelyMixtureWarning:
    """Return the warning that links between neighbours are not explained by communities."""
    return UnlikelyMixtureWarning(
        "Two neighbours of a node are linked {ratio:.2g} times as often as these communities explain: the links do not "
        "follow a block model. A random walk from the nodes of the hint finds {percent:.0f}% of their community.",
        code="not_block_model",
        ratio=ratio,
        percent=100 * agreement,
    )
