"""
How sure is it?
===============

A hint can be too weak to single out one component. The answer should know. Here are hints that turn from one center to
another, and the lead that each answer reports.
"""

import warnings

import numpy as np
from matplotlib.figure import Figure

from mixsearch import GaussianSearch, WeakHintWarning
from mixsearch.datasets import make_gaussian_mixture

data = make_gaussian_mixture(600, 20, 6, deviation=4.0, random_state=1)
search = GaussianSearch(n_components=6).fit(data.X)

# %%
# In the middle, the hint means neither. The search warns there, and lists the other component as an alternative.

mixes = np.linspace(0.3, 0.7, 33)
nearest, leads, is_weak = [], [], []
with warnings.catch_warnings():
    warnings.simplefilter("ignore", WeakHintWarning)
    for mix in mixes:
        found = search.search((1 - mix) * data.centers[0] + mix * data.centers[1])
        nearest.append(int(np.argmin(np.linalg.norm(data.centers - found.center, axis=1))))
        leads.append((found.separation, found.p_first))
        is_weak.append(bool(found.warnings))

# %%
# Above, the lead over the runner-up, where 1 is a tie; below, the probability that the component comes first on new
# samples too. A ring marks an answer with a warning.

figure = Figure(figsize=(6, 5), layout="constrained")
above, below = figure.subplots(2, sharex=True)
for axes, values in zip((above, below), np.array(leads).T, strict=True):
    for component in (0, 1):
        here = np.array(nearest) == component
        axes.plot(mixes[here], values[here], "o", label=f"component {component} found")
    axes.plot(mixes[is_weak], values[is_weak], "o", markersize=12, fillstyle="none", color="black", label="warning")
above.axhline(1, color="gray", linewidth=0.8)
above.set(ylabel="lead over the runner-up", ylim=(0, 5))
below.set(xlabel="hint, from center 0 to center 1", ylabel="probability of coming first")
above.legend()
figure
