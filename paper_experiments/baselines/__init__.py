"""Methods that the paper compares searches with: each recovers all components of a mixture.

| baseline | for | call |
| --- | --- | --- |
| tensor power method, TPM | Gaussians, topics | `tensor_power(compute_third_moment(search))` |
| Fast-TPM | Gaussians, topics | `fast_tensor_power(compute_third_moment(search), v)` |
| anchor words, NMF | topics | `AnchorWords(k).fit(counts)` |
| with a labeled word, SS-NMF | topics | `.fit(counts, document_weights=compute_word_frequencies(counts, word))` |
| LDA with seeded topics | topics | `seeded_lda(counts, k, words)` |
| k-means and SVD | subspaces | `kmeans_subspaces(X, k, dim)` |
| seeded k-means | clusters | `seeded_kmeans(X, y)` |
| EM | regressions | `em_regressions(X, y, k)` |
"""

from paper_experiments.baselines.anchor_words import (
    AnchorWords,
    compute_cooccurrence,
    compute_word_frequencies,
    find_anchors,
    recover_topics,
)
from paper_experiments.baselines.clustering import (
    Regressions,
    em_regressions,
    kmeans_subspaces,
    run_em,
    seeded_kmeans,
)
from paper_experiments.baselines.seeded_lda import seeded_lda
from paper_experiments.baselines.tensor_power import (
    Components,
    ThirdMoment,
    compute_third_moment,
    fast_tensor_power,
    robust_power_iterations,
    tensor_power,
)

__all__ = [
    "AnchorWords",
    "Components",
    "Regressions",
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
    "seeded_lda",
    "tensor_power",
]
