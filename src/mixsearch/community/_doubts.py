"""Reasons to doubt a community, or the number of communities."""

from __future__ import annotations

from mixsearch.community._rank_selection import GraphSpectrum
from mixsearch.errors import Option, UnlikelyMixtureWarning

_MAX_EIGENVALUES = 10


def fit_doubts(spectrum: GraphSpectrum, n_components: int) -> list[UnlikelyMixtureWarning]:
    """Return doubts about the number of communities requested; that none can be detected is a doubt of the answer."""
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
    """Return the doubt that links between neighbours are not explained by communities."""
    return UnlikelyMixtureWarning(
        "Two neighbours of a node are linked {ratio:.2g} times as often as these communities explain: the links do not "
        "follow a block model. A random walk from the nodes of the hint finds {percent:.0f}% of their community.",
        code="not_block_model",
        ratio=ratio,
        percent=100 * agreement,
    )
