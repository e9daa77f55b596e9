"""Methods to compare searches with: each recovers all components of a mixture, and can be used on its own."""

from mixsearch.baselines._anchor_recovery import Recovery, find_anchors, recover_topics
from mixsearch.baselines._anchor_words import (
    AnchorWords,
    NotConvergedWarning,
    compute_cooccurrence,
    compute_word_frequencies,
)
from mixsearch.baselines._kmeans import Clusters, Subspaces, kmeans_subspaces, seeded_kmeans
from mixsearch.baselines._power_iterations import robust_power_iterations
from mixsearch.baselines._regressions import Regressions, em_regressions, run_em
from mixsearch.baselines._tensor_power import Components, OneComponent, fast_tensor_power, tensor_power
from mixsearch.baselines._third_moments import ThirdMoment, compute_third_moment

__all__ = [
    "AnchorWords",
    "Clusters",
    "Components",
    "NotConvergedWarning",
    "OneComponent",
    "Recovery",
    "Regressions",
    "Subspaces",
    "ThirdMoment",
    "compute_cooccurrence",
    "compute_third_moment",
    "compute_word_frequencies",
    "em_regressions",
    "fast_tensor_power",
    "find_anchors",
    "kmeans_subspaces",
    "recover_topics",
    "robust_power_iterations",
    "run_em",
    "seeded_kmeans",
    "tensor_power",
]
