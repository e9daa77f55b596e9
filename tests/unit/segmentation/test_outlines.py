"""Outlines of segments: exact along pixels, and valid as polygons."""

import numpy as np
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st
from shapely.geometry import MultiPolygon, Polygon

from mixsearch.segmentation.outlines import make_path, trace_outlines


@st.composite
def labelled_pictures(draw):
    height, width, n_segments = (draw(st.integers(1, limit)) for limit in (9, 9, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    return rng.integers(-1, n_segments, (height, width)), n_segments


def polygons_of(labels, n_segments):
    outlines = trace_outlines(labels, n_segments)
    return [MultiPolygon([Polygon(each.exterior, each.holes) for each in some]) for some in outlines]


def rasterise(polygon, size):
    y, x = np.mgrid[: size[0], : size[1]] + 0.5
    return shapely.contains_xy(polygon, x, y)


@given(labelled_pictures())
@settings(max_examples=60, deadline=None)
def test_exact_outlines_are_valid_polygons_of_exactly_their_pixels(picture):
    labels, n_segments = picture
    for i, polygon in enumerate(polygons_of(labels, n_segments)):
        assert polygon.is_valid or polygon.is_empty
        np.testing.assert_array_equal(rasterise(polygon, labels.shape), labels == i)


def test_pieces_that_meet_at_a_corner_are_two_and_a_hole_at_a_corner_is_one():
    [outlines] = trace_outlines(np.array([[0, -1], [-1, 0]]), 1)
    assert len(outlines) == 2
    ring = np.zeros((4, 4), dtype=int)
    ring[1, 1] = ring[2, 2] = -1
    [[outline]] = trace_outlines(ring, 1)
    assert len(outline.holes) == 2


def test_the_path_of_a_segment_has_all_its_rings():
    ring = np.zeros((3, 3), dtype=int)
    ring[1, 1] = -1
    [outlines] = trace_outlines(ring, 1)
    assert make_path(outlines) == "M0 0H3V3H0Z" + make_path(outlines)[11:]
    assert make_path(outlines).count("Z") == 2
