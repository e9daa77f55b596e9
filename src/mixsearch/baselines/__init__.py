"""What searches are compared with: methods that recover every component of a mixture, usable on their own."""

from mixsearch.baselines.clusters import Clusters, Subspaces, kmeans_subspaces, seeded_kmeans
from mixsearch.baselines.power_iterations import robust_power_iterations
from mixsearch.baselines.tensor_power import Components, OneComponent, fast_tensor_power, tensor_power
from mixsearch.baselines.third_moments import ThirdMoment, third_moment

__all__ = [
    "Clusters",
    "Components",
    "OneComponent",
    "Subspaces",
    "ThirdMoment",
    "fast_tensor_power",
    "kmeans_subspaces",
    "robust_power_iterations",
    "seeded_kmeans",
    "tensor_power",
    "third_moment",
]
