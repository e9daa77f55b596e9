"""
Your own moments
================

Any mixture can be searched if you can estimate three moments of it. Here: shoppers of several kinds, of whom we see three
purchases each. Which products does the kind buy that likes tea?
"""

import numpy as np
from matplotlib.figure import Figure

from mixsearch.paper.algorithms import whitening

products = ["tea", "honey", "biscuits", "beer", "crisps", "nuts", "nappies", "wipes", "juice"]
habits = np.array(
    [
        [0.4, 0.3, 0.2, 0, 0, 0.05, 0, 0, 0.05],
        [0.05, 0, 0, 0.4, 0.3, 0.2, 0, 0, 0.05],
        [0, 0.05, 0.1, 0, 0.05, 0, 0.4, 0.3, 0.1],
    ]
)
rng = np.random.default_rng(0)
kind = rng.choice(3, size=30_000, p=[0.2, 0.5, 0.3])
bought = (habits.cumsum(axis=1)[kind][:, None] < rng.random((30_000, 3, 1))).sum(axis=2).clip(max=8)
first, second, third = np.eye(9)[bought].swapaxes(0, 1)

# %%
# Purchases of a shopper are independent given the kind. So the products of two and of three purchases have the moments
# that the search needs: the mean, the second moment, and the third one contracted with the hint.

hint = np.eye(9)[products.index("tea")]
pairs = first.T @ second / len(first)
weighted = first.T @ (second * (third @ hint)[:, None]) / len(first)
center, weight = whitening((pairs + pairs.T) / 2, (weighted + weighted.T) / 2, first.mean(axis=0), k=3)
print(f"weight {weight:.3f}; the truth is 0.2")

# %%
# The habits of the kind that likes tea, as found and as planted.

figure = Figure(figsize=(6, 3.2), layout="constrained")
axes = figure.subplots()
places = np.arange(9)
axes.bar(places - 0.2, center, 0.4, label="found")
axes.bar(places + 0.2, habits[0], 0.4, label="planted")
axes.set_xticks(places, products, rotation=30)
axes.set_ylabel("share of purchases")
axes.legend()
figure
