"""
How many components are there?
==============================

You need not know. ``n_components="auto"`` counts the directions that hold on samples not used to find them, and the
spectrum shows why.
"""

from mixsearch import GaussianSearch
from mixsearch.datasets import make_gaussian_mixture
from mixsearch.plots import plot_spectrum

data = make_gaussian_mixture(5_000, 50, 7, deviation=2.0, random_state=0)
search = GaussianSearch(n_components="auto").fit(data.X)
print(search.n_components_, "components")

# %%
# Directions to the left are signal: they have the same strength on samples held out. The others are noise.

figure = plot_spectrum(search)
figure
