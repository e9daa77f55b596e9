"""The image store: names, eviction, and segmentations that are computed once."""

import pytest
from numpy.testing import assert_array_equal
from tests.coded import raises
from tests.unit.image.images import as_bytes, halves

from mixsearch.datasets import make_landscape
from mixsearch.errors import HintError
from mixsearch.image import read_image
from mixsearch.web.image_schemas import NamedSegmentation, SegmentationRequest
from mixsearch.web.image_store import EXAMPLE, GoneError, ImageStore
from mixsearch.web.settings import Limits

SEEDS = ("5,20", "right:50,20")


def picture(height=40, width=60):
    return read_image(as_bytes(halves(height, width)[0]))


def test_the_pictures_not_asked_for_longest_go_first():
    store = ImageStore(Limits(max_stored_pixels=50_000))
    first, second = (store.add(picture(100, 200)) for _ in range(2))
    store.get(first)
    third = store.add(picture(100, 200))
    store.get(first)
    store.get(third)
    with raises("gone"):
        store.get(second)


def test_the_example_is_always_there():
    store = ImageStore(Limits(max_stored_pixels=1))
    store.add(picture())
    assert_array_equal(store.get(EXAMPLE).pixels, make_landscape(480, 720, random_state=3).image)
    with raises("example_stays"):
        store.remove(EXAMPLE)


def test_a_removed_picture_is_gone_with_its_segments():
    store = ImageStore(Limits())
    name = store.add(picture())
    store.segment(name, SegmentationRequest(SEEDS))
    store.remove(name)
    for ask in (store.get, store.remove, lambda gone: store.segment(gone, SegmentationRequest(SEEDS))):
        with pytest.raises(GoneError):
            ask(name)


def test_a_thinned_answer_is_of_the_same_graph():
    store = ImageStore(Limits())
    name = store.add(picture(500, 701))
    small = store.segment(name, SegmentationRequest(("100,90", "600,400"), every=3)).found
    assert small.labels.shape == (167, 234)
    assert small.seeds == (((33, 30),), ((200, 133),))


@pytest.mark.parametrize(
    ("seeds", "code"),
    [
        (("5;20",), "bad_seed"),
        (("+".join(f"{x},20" for x in range(40)), "+".join(f"{x},21" for x in range(40))), "too_many_seeds"),
        (("x" * 61 + ":5,20",), "name_too_long"),
    ],
)
def test_seeds_that_cannot_be_used_are_refused(seeds, code):
    store = ImageStore(Limits())
    with pytest.raises(HintError) as refused:
        store.segment(store.add(picture()), SegmentationRequest(seeds))
    assert refused.value.code == code


def test_a_segmentation_is_known_by_its_name():
    store = ImageStore(Limits())
    name = store.add(picture())
    request = SegmentationRequest(SEEDS, every=2)
    stored = store.segment(name, request)
    assert store.segment(name, NamedSegmentation(request.name, 2)) is stored
    assert store.segment(name, NamedSegmentation(request.name)).found.labels.shape == (40, 60)
    with raises("gone"):
        store.segment(name, NamedSegmentation("unknown"))
    with raises("gone"):
        store.segment(store.add(picture()), NamedSegmentation(request.name))
