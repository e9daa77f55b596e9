"""
Reviews labelled into a table
=============================

How much of each review is about each of a few topics? Name the topics, one word or more each, and get a table: ready for a
pivot table, a regression or a dashboard.
"""

from pathlib import Path
from tempfile import mkdtemp

import pandas as pd
from matplotlib.figure import Figure

from mixsearch.datasets import make_reviews
from mixsearch.index import IndexOptions, build_index, open_index
from mixsearch.text import CorpusOptions

frame = pd.DataFrame(make_reviews(3_000, random_state=0).to_columns())
path = Path(mkdtemp()) / "reviews.index"
build_index(frame, path, IndexOptions(n_components=12), CorpusOptions(text="text"))
index = open_index(path)

# %%
# One column per topic. The shares of a review add up to at most 1.

topics = {
    name: index.search(words) for name, words in {"food": "sushi", "waiters": "waiter staff", "cars": "parking"}.items()
}
shares = index.shares_frame(topics)
labelled = frame.join(shares.set_index("row")[list(topics)])
labelled.head()

# %%
# Which topics go with few stars?

by_stars = labelled.groupby("stars")[list(topics)].mean()
figure = Figure(figsize=(6, 3.2), layout="constrained")
axes = figure.subplots()
by_stars.plot.bar(ax=axes, rot=0, ylabel="mean share of a review", xlabel="stars")
figure
