"""
One cluster from one example
============================

You have one sample of the cluster that you want, among ten. Which samples are like it, and how sure is that?
"""

import numpy as np

from mixsearch import GaussianSearch
from mixsearch.datasets import make_gaussian_mixture
from mixsearch.show.plots import plot_component

data = make_gaussian_mixture(n_samples=5_000, n_features=40, n_components=10, deviation=1.5, random_state=0)
search = GaussianSearch(n_components=10).fit(data.X)

# %%
# Fitting needs no hint, and one fit serves all searches. Now name the sample: it is all that the search knows.

wanted = int(np.flatnonzero(data.labels == 4)[0])
found = search.search(examples=data.X[[wanted]])
print(found)

# %%
# Every sample gets a probability of being a member. The plane of the picture separates the cluster from its runner-up.

known = np.zeros(len(data.X))
known[wanted] = 1
figure = plot_component(found, data.X, labels=known).figure
figure

# %%
# The data are generated, so we can count how many samples were assigned correctly.

members = found.membership(data.X) > 0.5
print(f"{np.mean(members == (data.labels == 4)):.1%} right; the cluster leads by a factor of {found.separation:.1f}")
