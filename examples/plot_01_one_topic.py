"""
One topic in your reviews
=========================

You have three thousand reviews and care about one thing in them. Which words does it use, how much of the corpus is about it, and
which reviews are most about it? One word is enough to find out.
"""

from pathlib import Path
from tempfile import mkdtemp

from mixsearch.datasets import make_reviews
from mixsearch.index import IndexOptions, build_index, open_index
from mixsearch.show.plots import plot_topic
from mixsearch.text import CorpusOptions

reviews = make_reviews(3_000, random_state=0)
print(reviews.text[0])

# %%
# Build an index once. A path to a CSV, Parquet or Excel file works in place of the columns.

path = Path(mkdtemp()) / "reviews.index"
build_index(reviews.to_columns(), path, IndexOptions(n_components=12), CorpusOptions(text="text"))
index = open_index(path)

# %%
# Then ask as often as you like. An answer takes milliseconds.

topic = index.search("sushi")
figure = plot_topic(topic).figure
figure

# %%
# How many reviews are about it, and which most of all?

count = topic.document_count
print(f"{count.n} reviews are about it (95% interval {count.low} to {count.high}); confidence {topic.confidence:.0%}")
for row, share in topic.documents(3):
    print(f"{share:.0%}  {reviews.text[row][:90]}")
