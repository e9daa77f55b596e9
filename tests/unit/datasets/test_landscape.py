import numpy as np
from numpy.testing import assert_array_equal

from mixsearch import segment
from mixsearch.datasets import make_landscape


def test_every_segment_has_its_seed_and_its_colour():
    data = make_landscape(80, 120, random_state=0)
    assert data.image.shape == (80, 120, 3)
    assert data.image.dtype == np.uint8
    for number, name in enumerate(data.names):
        x, y = data.seeds[name]
        assert data.segments[y, x] == number
    sky, meadow, lake = (data.image[data.segments == i].mean(axis=0) for i in range(3))
    assert np.linalg.norm(sky - lake) < 0.5 * np.linalg.norm(sky - meadow)


def test_the_same_seed_draws_the_same_landscape():
    assert_array_equal(make_landscape(40, 60, random_state=3).image, make_landscape(40, 60, random_state=3).image)
    assert (make_landscape(40, 60, random_state=4).image != make_landscape(40, 60, random_state=3).image).any()


def test_its_segments_can_be_found():
    data = make_landscape(random_state=0)
    assert np.mean(segment(data.image, data.seeds).labels == data.segments) > 0.9
