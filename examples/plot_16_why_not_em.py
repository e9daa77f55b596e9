"""
Why not run EM?
===============

EM from a random start finds some optimum, for all components at once. The search needs one hint, no start, and finds one
component. How often does each find the component that was meant?
"""

import numpy as np
from matplotlib.figure import Figure
from sklearn.mixture import GaussianMixture

from mixsearch import GaussianSearch
from mixsearch.datasets import make_gaussian_mixture

N_RUNS = 12
errors = {"one search": [], "EM, random start": []}
for seed in range(N_RUNS):
    data = make_gaussian_mixture(2_000, 20, 10, deviation=1.5, random_state=seed)
    sample = data.X[data.labels == 0][:1]
    found = GaussianSearch(n_components=10).fit(data.X).search(examples=sample, refine=True)
    errors["one search"].append(np.linalg.norm(found.center - data.centers[0]))
    em = GaussianMixture(10, covariance_type="spherical", init_params="random_from_data", random_state=seed).fit(data.X)
    nearest = em.means_[em.predict(sample)[0]]
    errors["EM, random start"].append(np.linalg.norm(nearest - data.centers[0]))

# %%
# Each dot is a mixture. A large error means that another component, or a blend of several, was found. Better starts help EM:
# with k-means or several restarts it finds most components, at a multiple of the cost.

figure = Figure(figsize=(6, 2.4), layout="constrained")
axes = figure.subplots()
for place, values in enumerate(errors.values()):
    axes.plot(values, np.full(N_RUNS, place), "o", alpha=0.6)
axes.set_yticks(range(2), errors)
axes.set(xlabel="error of the center", ylim=(-0.5, 1.5))
figure
