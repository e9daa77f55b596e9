"""
How many components are there?
==============================

You need not know. ``n_components="auto"`` counts the directions that hold on samples not used to find them, and the
spectrum shows why.
"""

import numpy as np
from matplotlib.figure import Figure

from mixsearch import GaussianSearch
from mixsearch.datasets import make_gaussian_mixture

data = make_gaussian_mixture(5_000, 50, 7, deviation=2.0, random_state=0)
search = GaussianSearch(n_components="auto").fit(data.X)
print(search.n_components_, "components")

# %%
# Directions to the left are signal: they have the same strength on samples held out. The others are noise.

spectrum = search.spectrum_
figure = Figure(figsize=(7, 4), layout="constrained")
axes = figure.subplots()
directions = np.arange(1, 16)
axes.plot(directions, spectrum.found[:15], "o", label="on the samples they were found on")
axes.errorbar(directions, spectrum.held_out[:15], spectrum.stderr[:15], fmt="s", label="on samples held out")
axes.set(xlabel="direction", ylabel="eigenvalue above the noise", yscale="symlog")
axes.legend(frameon=False)
figure
