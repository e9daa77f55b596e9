"""What searches are compared with: methods that recover every component of a mixture, usable on their own."""

from mixsearch.baselines.anchor_recovery import Recovery, find_anchors, recover_topics
from mixsearch.baselines.anchor_words import AnchorWords, cooccurrence, weights_of_word
from mixsearch.baselines.clusters import Clusters, Subspaces, kmeans_subspaces, seeded_kmeans
from mixsearch.baselines.power_iterations import robust_power_iterations
from mixsearch.baselines.regressions import Regressions, em_regressions
from mixsearch.baselines.tensor_power import Components, OneComponent, fast_tensor_power, tensor_power
from mixsearch.baselines.third_moments import ThirdMoment, third_moment

__all__ = [
    "AnchorWords",
    "Clusters",
    "Components",
    "OneComponent",
    "Recovery",
    "Regressions",
    "Subspaces",
    "ThirdMoment",
    "cooccurrence",
    "em_regressions",
    "fast_tensor_power",
    "find_anchors",
    "kmeans_subspaces",
    "recover_topics",
    "robust_power_iterations",
    "seeded_kmeans",
    "tensor_power",
    "third_moment",
    "weights_of_word",
]
