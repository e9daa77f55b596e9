import numpy as np
import pandas as pd
import pytest

from mixsearch.datasets import make_reviews


@pytest.fixture(scope="module")
def reviews():
    return make_reviews(2_000, random_state=0)


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
