"""
Several lines in one cloud
==========================

Prices follow the area of a flat, but by different rules in different districts, and nobody recorded the district. You know
the district of a dozen sales. What is its rule?
"""

import numpy as np

from mixsearch import RegressionSearch
from mixsearch.show.plots import plot_regression

rng = np.random.default_rng(1)
rules = np.array([[1.5, 40.0], [5.0, 20.0], [3.5, 10.0]])  # price per square metre, and a base price
district = rng.choice(3, size=6_000, p=[0.5, 0.3, 0.2])
area = rng.normal(80, 20, size=6_000)
price = rules[district, 0] * area + rules[district, 1] + rng.normal(0, 12, size=6_000)

# %%
# Fit without any district, then search with the twelve sales.

search = RegressionSearch(n_components=3).fit(area[:, None], price)
known = np.flatnonzero(district == 1)[:12]
found = search.search(examples=(area[known, None], price[known]), refine=True)
print(f"{found.center[0]:.2f} per square metre and {found.intercept:.0f}; the truth is 5 and 20")

# %%
# The line, and the sales that follow it.

labels = np.zeros(len(area))
labels[known] = 1
figure = plot_regression(found, area[:, None], price, labels=labels).figure
figure
