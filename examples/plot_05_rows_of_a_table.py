"""
Rows like three rows of a table
===============================

You know three wines that matter. Which others are like them, how many are there, and which columns set them apart?
"""

from sklearn.datasets import load_wine

import mixsearch
from mixsearch.show.plots import plot_members

wine = load_wine()
table = dict(zip(wine.feature_names, wine.data.T, strict=True))
found = mixsearch.find(table, examples=[3, 17, 40])
print(found)

# %%
# The columns that differ most, and the members among all rows.

figure = plot_members(found).figure
figure

# %%
# scikit-learn knows the grape of each wine; the search did not. All three rows are of the first one, which has 59 wines.

members = found.membership > 0.5
print(f"{members.sum()} members, {(wine.target[members] == 0).sum()} of them of the same grape")
