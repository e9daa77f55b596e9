"""
More like these five
====================

You marked five reviews. Which others are about the same thing, though you have no word for it?
"""

import numpy as np
from matplotlib.figure import Figure

from mixsearch import TopicSearch
from mixsearch.datasets import make_reviews
from mixsearch.metrics import average_precision

reviews = make_reviews(3_000, random_state=0)
search = TopicSearch().fit(reviews.text)

# %%
# The five are about waiters; the search sees only their row numbers.

about_waiters = reviews.shares[:, reviews.subjects.index("service")]
marked = np.flatnonzero(about_waiters > 0.8)[:5]
topic = search.search(documents=marked)
print("words:", ", ".join(word for word, _ in topic.top_words(8)))
print(topic.check)

# %%
# Every review has a score, and the probability that it belongs. Here the truth is known, so we can compare.

figure = Figure(figsize=(5, 4), layout="constrained")
axes = figure.subplots()
axes.plot(about_waiters, topic.membership(), ".", alpha=0.3)
axes.set(xlabel="true share of the subject", ylabel="membership, from five reviews")
figure

# %%
# A ranking by the score has the right reviews first.

print(f"average precision {average_precision(about_waiters > 0.25, topic.scores):.2f}, 1 is perfect")
