"""
A cell type from a marker gene
==============================

Counts of genes in cells are like counts of words in documents: a cell type is a topic, and a marker gene is a word.
From one marker, which other genes belong to the type, and which cells are of it? The counts here are simulated.
"""

import numpy as np
from matplotlib.figure import Figure
from scipy.sparse import csr_array

from mixsearch import TopicSearch

N_CELLS, N_GENES, N_TYPES, N_MARKERS = 3_000, 400, 6, 15
rng = np.random.default_rng(0)
profiles = rng.dirichlet(np.full(N_GENES, 0.5), size=N_TYPES)
for kind in range(N_TYPES):
    markers = slice(kind * N_MARKERS, (kind + 1) * N_MARKERS)
    profiles[:, markers] *= 0.05  # silent elsewhere
    profiles[kind, markers] = 8 / N_GENES
profiles /= profiles.sum(axis=1, keepdims=True)
genes = [
    f"type{i // N_MARKERS}-marker{i % N_MARKERS}" if i < N_TYPES * N_MARKERS else f"gene{i}" for i in range(N_GENES)
]

cell_type = rng.choice(N_TYPES, size=N_CELLS, p=[0.3, 0.25, 0.2, 0.15, 0.07, 0.03])
counts = csr_array(np.stack([rng.multinomial(rng.poisson(300) + 20, profiles[kind]) for kind in cell_type]))

# %%
# One marker of a type that is 7% of the cells.

search = TopicSearch(n_components=N_TYPES).fit(counts, vocabulary=genes)
found = search.search(words="type4-marker0")
print("genes:", ", ".join(gene for gene, _ in found.top_words(10)))
print(found.sentence)

# %%
# The score of every cell, by its true type.

figure = Figure(figsize=(6, 3.2), layout="constrained")
axes = figure.subplots()
axes.boxplot([found.scores[cell_type == kind] for kind in range(N_TYPES)], tick_labels=range(N_TYPES))
axes.set(xlabel="true cell type", ylabel="score from one marker of type 4")
figure
