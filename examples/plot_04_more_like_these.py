"""
More like these five
====================

You marked five reviews. Which others are about the same thing, though you have no word for it?
"""

from pathlib import Path
from tempfile import mkdtemp

import numpy as np
from matplotlib.figure import Figure

from mixsearch.datasets import make_reviews
from mixsearch.index import IndexOptions, build_index, open_index
from mixsearch.metrics import average_precision
from mixsearch.text import CorpusOptions

reviews = make_reviews(3_000, random_state=0)
path = Path(mkdtemp()) / "reviews.index"
build_index(reviews.to_columns(), path, IndexOptions(n_components=12), CorpusOptions(text="text"))
index = open_index(path)

# %%
# The five are about waiters; the search sees only their row numbers.

about_waiters = reviews.shares[:, reviews.subjects.index("service")]
marked = np.flatnonzero(about_waiters > 0.8)[:5]
topic = index.search(documents=marked)
print("typical words:", ", ".join(word for word, _ in topic.top_words(8)))

# %%
# Every review gets a share of the topic. Here the truth is known, so we can compare.

shares = index.document_shares([topic])[:, 0]
figure = Figure(figsize=(5, 4), layout="constrained")
axes = figure.subplots()
axes.plot(about_waiters, shares, ".", alpha=0.3)
axes.set(xlabel="true share of the subject", ylabel="share found from five reviews")
figure

# %%
# A ranking by this share has the right reviews first.

print(f"average precision {average_precision(about_waiters > 0.25, shares):.2f}, 1 is perfect")
