"""
Reviews labelled into a table
=============================

How much of each review is about each of a few topics? Name the topics, one word or more each, and get a table: ready for a
pivot table, a regression or a dashboard.
"""

from pathlib import Path
from tempfile import mkdtemp

import polars as pl
from matplotlib.figure import Figure

from mixsearch.datasets import make_reviews
from mixsearch.index import IndexOptions, Query, answer_queries, build_index, label_documents, open_index
from mixsearch.text import CorpusOptions

path = Path(mkdtemp()) / "reviews.index"
reviews = make_reviews(3_000, random_state=0).to_columns()
build_index(reviews, path, IndexOptions(n_components=12), CorpusOptions(text="text"))
index = open_index(path)

# %%
# Three columns per topic: its share of the review, whether the review is about it, and the verdict on the topic. The shares
# of a review add up to at most 1. The same on the command line: `mixsearch export reviews.index --topics sushi,parking`.

hints = {"food": ["sushi"], "waiters": ["waiter", "staff"], "cars": ["parking"]}
queries = [Query(name, dict.fromkeys(words, 1.0)) for name, words in hints.items()]
labelled = pl.concat(label_documents(index, answer_queries(index, queries)))
labelled.columns

# %%
# Which topics go with few stars?

means = labelled.group_by("stars").agg(pl.col(list(hints)).mean()).sort("stars")
figure = Figure(figsize=(6, 3.2), layout="constrained")
axes = figure.subplots()
stars = means["stars"].to_numpy()
for position, name in enumerate(hints):
    axes.bar(stars + 0.25 * (position - 1), means[name], width=0.25, label=name)
axes.set(xlabel="stars", ylabel="mean share of a review", xticks=stars)
axes.legend(frameon=False)
figure
