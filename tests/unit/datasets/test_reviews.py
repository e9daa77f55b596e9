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


def test_only_reviews_of_a_subject_name_it(reviews):
    for index, name in enumerate(reviews.subjects):
        mentions = np.array([name in text.lower() for text in reviews.text])
        assert mentions[reviews.shares[:, index] > 0.5].mean() > 0.3
        assert mentions[reviews.shares[:, index] == 0].mean() == 0


def test_praise_has_more_stars(reviews):
    stars = np.array(reviews.stars)
    assert set(stars) == {1, 2, 3, 4, 5}
    is_late, is_hot = (np.array([phrase in text for text in reviews.text]) for phrase in ("hours late", "still hot"))
    assert stars[is_late].mean() < stars[is_hot].mean()


def test_sentences_have_no_open_choices(reviews):
    assert not any(set("()|[]") & set(text) for text in reviews.text)
