"""
One topic in your reviews
=========================

You have three thousand reviews and care about one thing in them. Which words does it use, how many reviews are about it, and
which ones most of all? One word is enough to find out.
"""

from mixsearch import TopicSearch
from mixsearch.datasets import make_reviews
from mixsearch.show.plots import plot_topic

reviews = make_reviews(3_000, random_state=0)
print(reviews.text[0])

# %%
# Fit once, on any list of texts; then ask as often as you like.

search = TopicSearch().fit(reviews.text)
topic = search.search("sushi")
figure = plot_topic(topic).figure
figure

# %%
# About how many reviews are about it, how sure is that, and which most of all?

print(topic.sentence)
print(topic.check)
for row, membership in topic.documents(3):
    print(f"{membership:.0%}  {reviews.text[row][:90]}")

# %%
# "About" becomes a number with an interval when you judge some reviews. Here the truth is known.

is_about = reviews.shares[:, reviews.subjects.index("sushi")] > 0.3
judged = topic.judge({int(row): bool(is_about[row]) for row in topic.audit(30)})
n, low, high = judged.n_members
print(f"{n:.0f} reviews ({low:.0f} to {high:.0f}); in truth {is_about.sum()}")
