"""
How sure is it?
===============

A hint can be too weak to single out one component. The answer should know. Here are hints that turn from one center to
another, and the confidence that each answer reports.
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
answers = []
with warnings.catch_warnings():
    warnings.simplefilter("ignore", WeakHintWarning)
    for mix in mixes:
        found = search.search((1 - mix) * data.centers[0] + mix * data.centers[1])
        nearest = int(np.argmin(np.linalg.norm(data.centers - found.center, axis=1)))
        answers.append((nearest, found.confidence, bool(found.doubts)))

# %%
# A ring marks an answer with doubts.

figure = Figure(figsize=(6, 3.2), layout="constrained")
axes = figure.subplots()
for nearest in (0, 1):
    chosen = [(mix, confidence) for mix, (which, confidence, _) in zip(mixes, answers, strict=True) if which == nearest]
    axes.plot(*zip(*chosen, strict=True), "o", label=f"component {nearest} found")
doubtful = [(mix, confidence) for mix, (_, confidence, doubt) in zip(mixes, answers, strict=True) if doubt]
axes.plot(*zip(*doubtful, strict=True), "o", markersize=12, fillstyle="none", color="black", label="with doubts")
axes.set(xlabel="hint, from center 0 to center 1", ylabel="confidence", ylim=(0, 1.05))
axes.legend(loc="lower left")
figure
