"""
A million rows on Dask
======================

What if rows do not fit into memory, or are on several machines? The searches accept Dask arrays: each block is reduced to
small sums on its worker, and only the sums are sent.
"""

import dask.array as da
import numpy as np
from matplotlib.figure import Figure

from mixsearch import GaussianSearch
from mixsearch.datasets import make_gaussian_mixture

N_BLOCKS, N_ROWS, N_FEATURES = 10, 100_000, 20
truth = make_gaussian_mixture(10, N_FEATURES, 5, deviation=1.5, random_state=0)


def draw_block(block_id):
    """Return the rows of one block. Yours come from files."""
    rng = np.random.default_rng(block_id[0])
    which = rng.choice(5, size=N_ROWS, p=truth.weights)
    return truth.centers[which] + 1.5 * rng.standard_normal((N_ROWS, N_FEATURES))


def make_array(n_blocks):
    """Return an array whose blocks are drawn when they are needed, and not kept."""
    chunks = ((N_ROWS,) * n_blocks, (N_FEATURES,))
    return da.map_blocks(lambda block_id=None: draw_block(block_id), chunks=chunks, dtype=float, meta=np.empty((0, 0)))


# %%
# Fit to more and more blocks, with the same code, and search for the component near a direction.

errors = []
for n_blocks in (1, 3, N_BLOCKS):
    search = GaussianSearch(n_components=5).fit(make_array(n_blocks))
    found = search.search(truth.centers[2])
    errors.append(np.linalg.norm(found.center - truth.centers[2]))
    print(f"{n_blocks * N_ROWS:>9,} rows: error {errors[-1]:.4f}")

# %%
# The error falls roughly with the square root of the number of rows.

figure = Figure(figsize=(5, 3.2), layout="constrained")
axes = figure.subplots()
rows = np.array([1, 3, N_BLOCKS]) * N_ROWS
axes.loglog(rows, errors, "o-", label="error of the center")
axes.loglog(rows, errors[0] * np.sqrt(rows[0] / rows), ":", label="square root law")
axes.set(xlabel="rows", ylabel="error")
axes.legend()
figure
