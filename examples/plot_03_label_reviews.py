"""
Reviews labelled into a table
=============================

Which reviews are about each of a few topics? Name the topics, one word or more each, and get a table: ready for a pivot table,
a regression or a dashboard.
"""

from pathlib import Path
from tempfile import mkdtemp

import polars as pl
from matplotlib.figure import Figure

from mixsearch.datasets import make_reviews
from mixsearch.topics import build_index, frame_documents, open_index

path = Path(mkdtemp()) / "reviews.index"
build_index(make_reviews(3_000, random_state=0).to_columns(), path)
index = open_index(path)

# %%
# A column for each topic: the probability that the review is about it. The same on the command line:
# `mixsearch export reviews.index --topics sushi,parking -o labelled.csv`.

hints = {"food": "sushi", "waiters": "waiter staff", "cars": "parking"}
labelled = frame_documents(index, {name: index.search(words) for name, words in hints.items()})
labelled.columns

# %%
# Which topics go with few stars?

means = labelled.group_by("stars").agg(pl.col(list(hints)).mean()).sort("stars")
figure = Figure(figsize=(6, 3.2), layout="constrained")
axes = figure.subplots()
stars = means["stars"].to_numpy()
for position, name in enumerate(hints):
    axes.bar(stars + 0.25 * (position - 1), means[name], width=0.25, label=name)
axes.set(xlabel="stars", ylabel="share of the reviews", xticks=stars)
axes.legend(frameon=False)
figure
