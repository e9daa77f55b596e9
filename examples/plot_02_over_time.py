"""
Does a topic grow?
==================

Reviews have dates. Which topics take a larger share of them over the years, and how sure is that?
"""

from pathlib import Path
from tempfile import mkdtemp

from mixsearch.datasets import make_reviews
from mixsearch.index import IndexOptions, build_index, open_index
from mixsearch.show.plots import plot_groups
from mixsearch.text import CorpusOptions

reviews = make_reviews(4_000, random_state=0)
path = Path(mkdtemp()) / "reviews.index"
options = CorpusOptions(text="text", keep=("date", "city", "stars"))
build_index(reviews.to_columns(), path, IndexOptions(n_components=12), options)
index = open_index(path)

# %%
# The share of each topic in every quarter, with 95% intervals.

found = index.group(["delivery", "sushi"], over="date", every="quarter")
figure = plot_groups(found).figure
figure
