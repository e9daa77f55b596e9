from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from mixsearch.datasets import make_reviews


@pytest.fixture(scope="module")
def reviews():
    return make_reviews(2_000, random_state=0)


def test_a_seed_gives_the_same_reviews(reviews):
    again = make_reviews(2_000, random_state=0)
    assert again.to_columns() == reviews.to_columns()
    assert make_reviews(2_000, random_state=1).text != reviews.text


def test_columns_have_one_value_per_review(reviews):
    columns = reviews.to_columns()
    assert {len(values) for values in columns.values()} == {2_000}
    assert set(columns["stars"]) <= {1, 2, 3, 4, 5}
    assert reviews.shares.sum(axis=1) == pytest.approx(np.ones(2_000))


def test_a_file_has_the_columns(reviews, tmp_path):
    path = tmp_path / "reviews.csv"
    reviews.to_csv(path)
    frame = pd.read_csv(path, parse_dates=["date"])
    frame["date"] = frame["date"].dt.date
    assert frame.to_dict("list") == reviews.to_columns()


def test_a_review_has_the_words_of_its_subjects(reviews):
    for index, name in enumerate(reviews.subjects):
        mentions = np.array([f" {name} " in f" {text} " for text in reviews.text])
        assert mentions[reviews.shares[:, index] > 0.5].mean() > 0.8
        assert mentions[reviews.shares[:, index] < 0.01].mean() < 0.05


def test_deliveries_become_more_frequent_and_get_fewer_stars(reviews):
    share = reviews.shares[:, reviews.subjects.index("delivery")]
    thirds = np.array_split(share[np.argsort([day.toordinal() for day in reviews.date])], 3)
    assert all(before.mean() < after.mean() for before, after in pairwise(thirds))
    stars = np.array(reviews.stars)
    assert stars[share > 0.8].mean() < stars[share < 0.2].mean() - 0.5
