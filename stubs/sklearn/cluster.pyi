from typing import Any, Self

class KMeans:
    labels_: Any
    cluster_centers_: Any
    def __init__(self, n_clusters: int = ..., **options: Any) -> None: ...
    def fit(self, X: Any) -> Self: ...
