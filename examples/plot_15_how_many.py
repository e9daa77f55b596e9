"""
How many components are there?
==============================

You need not know. ``n_components="auto"`` counts the directions in which samples vary more than noise alone would, and
the spectrum shows why.
"""

import numpy as np
from matplotlib.figure import Figure

from mixsearch import GaussianSearch
from mixsearch.datasets import make_gaussian_mixture

data = make_gaussian_mixture(5_000, 50, 7, deviation=2.0, random_state=0)
search = GaussianSearch(n_components="auto").fit(data.X)
print(search.n_components_, "components")

# %%
# Directions to the left are signal: their eigenvalues exceed those that noise alone would give.

spectrum = search.spectrum_
figure = Figure(figsize=(7, 4), layout="constrained")
axes = figure.subplots()
directions = np.arange(1, 16)
axes.plot(directions, spectrum.values[:15], "o", label="eigenvalue")
axes.plot(directions, spectrum.thresholds[:15], "_", markersize=12, label="what noise alone would reach")
axes.set(xlabel="direction", ylabel="eigenvalue above the noise", yscale="symlog")
axes.legend(frameon=False)
figure
