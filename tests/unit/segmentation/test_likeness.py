"""Segments of one picture in another: found by their appearance, or reported as missing."""

import json

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from tests.unit.segmentation.images import COLOURS, halves, painted, thirds

from mixsearch import SearchError, segment
from mixsearch.datasets import make_landscape
from mixsearch.segmentation import (
    MissingSegmentWarning,
    UnfamiliarImageWarning,
    read_segment_model,
    segment_like,
)


@pytest.fixture(scope="module")
def first():
    return segment(thirds()[0], {"left": (5, 5), "right": (66, 5), "disk": (36, 24)})


def test_segments_are_found_wherever_they_are(first):
    labels = np.rot90(thirds()[1]).copy()
    found = segment_like(painted(labels, seed=3), first)
    assert found.names == first.names
    assert np.mean(found.labels == labels) > 0.97
    assert all(labels[y, x] == i for i, pixels in enumerate(found.seeds) for x, y in pixels)


def test_a_model_is_the_same_after_it_was_stored(first, tmp_path):
    path = first.save_model(tmp_path / "model.json")
    stored, model = read_segment_model(path), first.to_model()
    assert stored.names == model.names
    assert_allclose(stored.appearances, model.appearances, atol=1e-4)
    picture = painted(thirds()[1][:, ::-1], seed=4)
    assert np.mean(segment_like(picture, path).labels == segment_like(picture, model).labels) > 0.99


def test_a_segment_that_is_not_there_is_said_to_be_missing(first):
    picture, labels = halves(seed=5)
    with pytest.warns(MissingSegmentWarning, match="looks like 'disk': no pixel is given to it") as caught:
        found = segment_like(picture, first)
    assert caught[0].message.fields["names"] == ["disk"]
    assert found.names == ("left", "right", "disk")
    assert np.mean(found.labels == labels) > 0.97
    assert (found.sizes[2], found.seeds[2]) == (0, ())
    assert_array_equal(found.probabilities[..., 2], 0)
    corrected = found.correct({"left": (59, 20)})
    assert corrected.labels[20, 59] == 0
    assert corrected.names == found.names


def test_a_picture_of_one_segment_is_all_of_it(first):
    with pytest.warns(MissingSegmentWarning, match="'left', 'disk'"):
        found = segment_like(painted(np.ones((40, 60), dtype=int), seed=6), first)
    assert (found.labels == 1).all()
    assert found.expected_iou[1] > 0.9
    assert found.correct({"left": (3, 3)}).labels[3, 3] == 0


def test_what_looks_like_nothing_is_doubted(first):
    picture = painted(np.zeros((40, 60), dtype=int), seed=7)
    picture[:, 30:] = 1 - COLOURS[1] + np.random.default_rng(0).normal(scale=0.3, size=(40, 30, 3))
    with (
        pytest.warns(UnfamiliarImageWarning, match=r"[45]\d% of the image looks like none"),
        pytest.warns(MissingSegmentWarning),
    ):
        found = segment_like(np.clip(picture, 0, 1), first)
    assert found.expected_iou[0] < 0.85


def test_a_picture_of_something_else_is_refused(first):
    noise = np.random.default_rng(0).random((40, 60, 3))
    with pytest.raises(SearchError, match="Nothing in the image looks like 'left', 'right', 'disk'") as caught:
        segment_like(noise, first)
    assert caught.value.code == "nothing_alike"


def test_transparent_parts_neither_teach_nor_are_seeds():
    picture, labels = thirds()
    alpha = np.ones(labels.shape)
    alpha[:, :20] = 0
    first = segment(np.dstack([picture, alpha]), {"left": (30, 5), "right": (66, 5)})
    found = segment_like(np.dstack([picture, alpha]), first)
    assert (found.labels[:, :20] == -1).all()
    assert all(x >= 20 for pixels in found.seeds for x, _ in pixels)


@pytest.mark.parametrize(
    "change",
    [
        {"format": "something else"},
        {"version": 2},
        {"appearances": []},
        {"appearances": [[1, 2]], "probabilities": [[1, 0, 0]]},
        {"names": ["a"]},
        {"probabilities": [[float("nan")]]},
    ],
)
def test_a_file_that_is_no_model_is_named(first, tmp_path, change):
    content = json.loads(first.save_model(tmp_path / "model.json").read_text("utf-8")) | change
    (tmp_path / "model.json").write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(SearchError, match=r"model\.json' isn't a model of segments") as caught:
        read_segment_model(tmp_path / "model.json")
    assert caught.value.code == "bad_segment_model"


def test_a_mixture_has_no_model():
    with pytest.raises(SearchError, match="needs assign='graph'"):
        segment(halves()[0], [(5, 5), (50, 5)], features="rgb").to_model()


def test_a_landscape_is_found_in_another_one():
    one, other = make_landscape(random_state=2), make_landscape(random_state=7)
    found = segment_like(other.image, segment(one.image, one.seeds))
    assert np.mean(found.labels == other.segments) > 0.9
