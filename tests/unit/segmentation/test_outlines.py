"""Outlines of segments: exact along pixels, valid as polygons, shared by neighbours, and simpler on demand."""

import json
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.ndimage import gaussian_filter
from shapely.geometry import MultiPolygon, Polygon, shape
from tests.unit.segmentation.images import thirds

from mixsearch import segment
from mixsearch.errors import SearchError
from mixsearch.segmentation import make_path
from mixsearch.segmentation._outlines import trace_outlines

SVG = "{http://www.w3.org/2000/svg}"


@st.composite
def labelled_pictures(draw):
    height, width, n_segments = (draw(st.integers(1, limit)) for limit in (9, 9, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    return rng.integers(-1, n_segments, (height, width)), n_segments


def blobs(height=70, width=90, scale=4, n_segments=3, seed=0):
    rng = np.random.default_rng(seed)
    return np.stack([gaussian_filter(rng.normal(size=(height, width)), scale) for _ in range(n_segments)]).argmax(
        axis=0
    )


def polygons_of(labels, n_segments, simplify=0.0):
    outlines = trace_outlines(labels, n_segments, simplify)
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


@given(labelled_pictures(), st.sampled_from([0.6, 1.5, 8.0]))
@settings(max_examples=60, deadline=None)
def test_simpler_outlines_stay_valid_and_neighbours_share_their_borders(picture, simplify):
    labels, n_segments = picture
    polygons = [each for each in polygons_of(labels, n_segments, simplify) if not each.is_empty]
    assert all(each.is_valid for each in polygons)
    assert shapely.coverage_is_valid(polygons)


@pytest.mark.parametrize("simplify", [1.0, 3.0])
def test_simpler_outlines_are_close_with_far_fewer_corners(simplify):
    labels = blobs()
    exact, simpler = polygons_of(labels, 3), polygons_of(labels, 3, simplify)
    for one, other in zip(exact, simpler, strict=True):
        assert shapely.hausdorff_distance(one.boundary, other.boundary, densify=0.1) <= simplify + 1e-9
    count = shapely.get_num_coordinates
    assert sum(map(count, simpler)) < sum(map(count, exact)) / 3
    assert shapely.union_all(simpler).area == labels.size  # no gaps, no overlaps


def test_pieces_that_meet_at_a_corner_are_two_and_a_hole_at_a_corner_is_one():
    [outlines] = trace_outlines(np.array([[0, -1], [-1, 0]]), 1)
    assert len(outlines) == 2
    ring = np.zeros((4, 4), dtype=int)
    ring[1, 1] = ring[2, 2] = -1
    [[outline]] = trace_outlines(ring, 1)
    assert len(outline.holes) == 2


def test_a_segment_without_pixels_has_no_outline():
    assert trace_outlines(np.zeros((3, 3), dtype=int), 2)[1] == []
    assert trace_outlines(np.full((3, 3), -1), 1, simplify=2) == [[]]


def test_svg_and_geojson_hold_the_segments(tmp_path):
    picture, _ = thirds()
    found = segment(picture, {"left & <dark>": (5, 5), "right": (66, 5), "disk\x01": (36, 24)})
    drawing = ElementTree.fromstring(found.to_svg())
    assert drawing.get("viewBox") == "0 0 72 48"
    paths = list(drawing.iter(f"{SVG}path"))
    assert [each.find(f"{SVG}title").text for each in paths] == ["left & <dark>", "right", "disk\ufffd"]
    assert [each.get("d") for each in paths] == [make_path(some) for some in found.outlines()]
    collection = found.to_geojson()
    assert json.loads(json.dumps(collection)) == collection
    for i, feature in enumerate(collection["features"]):
        polygon = shape(feature["geometry"])
        assert polygon.is_valid
        assert (feature["properties"]["name"], feature["properties"]["pixels"]) == (found.names[i], polygon.area)
        assert all(ring[0] == ring[-1] for rings in feature["geometry"]["coordinates"] for ring in rings)
        assert all(Polygon(rings[0]).exterior.is_ccw for rings in feature["geometry"]["coordinates"])
    assert found.save_outlines(tmp_path / "new" / "out.svg").read_text("utf-8") == found.to_svg()
    written = json.loads(found.save_outlines(tmp_path / "out.geojson", simplify=2).read_text("utf-8"))
    assert written == found.to_geojson(2)


def test_what_is_wrong_is_said_in_a_sentence(tmp_path):
    found = segment(thirds()[0], [(5, 5), (66, 5)])
    with pytest.raises(SearchError, match="simplify must be a number of pixels from 0, got -1"):
        found.outlines(-1)
    with pytest.raises(SearchError, match=r"out\.png': outlines are written as SVG or GeoJSON") as caught:
        found.save_outlines(tmp_path / "out.png")
    assert caught.value.code == "unknown_outline_format"
    assert not list(tmp_path.iterdir())
