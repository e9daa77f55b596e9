"""
Does a topic grow?
==================

Reviews have dates. Which topics take a larger share of them over the years?
"""

from pathlib import Path
from tempfile import mkdtemp

from mixsearch.datasets import make_reviews
from mixsearch.show.plots import plot_groups
from mixsearch.topics import build_index, open_index

reviews = make_reviews(4_000, random_state=0)
path = Path(mkdtemp()) / "reviews.index"
build_index(reviews.to_columns(), path)  # or the path of a CSV, Parquet or Excel file
index = open_index(path)

# %%
# The share of the reviews of each quarter that are about each topic.

groups = index.group(["delivery", "sushi"], over="date", every="quarter")
figure = plot_groups(groups).figure
figure
