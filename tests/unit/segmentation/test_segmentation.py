import numpy as np
import pytest
from numpy.testing import assert_array_equal
from PIL import Image
from tests.coded import raises
from tests.unit.segmentation.images import as_bytes, thirds

from mixsearch import segment
from mixsearch.segmentation.image_files import find_borders, make_label_image, make_segment_colors

SEEDS = {"left": (6, 24), "right": (66, 24), "a/disk": [(36, 24), (38, 26)]}


@pytest.fixture(scope="module")
def found():
    return segment(as_bytes(thirds()[0]), SEEDS)


def test_masks_cover_the_picture_once(found):
    masks = [found.mask(i) for i in range(3)]
    assert_array_equal(np.sum(masks, axis=0), 1)
    assert_array_equal(found.mask("right"), masks[1])
    assert_array_equal(found.sizes, [mask.sum() for mask in masks])
    assert found.shares.sum() == pytest.approx(1)


@pytest.mark.parametrize("segment", ["middle", 3])
def test_a_segment_that_is_not_there_is_refused(found, segment):
    with raises("unknown_segment", segment=segment):
        found.mask(segment)


def test_an_overlay_tints_each_segment_and_marks_the_seeds(found):
    plain = found.overlay(marks=False)
    inside = ~find_borders(found.labels)
    expected = (as_bytes(thirds()[0]) + make_segment_colors(3)[found.labels].astype(float)) / 2
    assert np.abs(plain[inside] - expected[inside]).max() <= 1
    assert (plain[~inside] == 255).all()
    marked = found.overlay()
    for pixels in found.seeds:
        for x, y in pixels:
            assert tuple(marked[y, x]) == (230, 0, 30)


def test_what_is_saved_is_what_is_read(found, tmp_path):
    assert_array_equal(np.asarray(Image.open(found.save(tmp_path / "overlay.png"))), found.overlay())
    assert_array_equal(np.asarray(Image.open(found.save_labels(tmp_path / "labels.png"))), found.labels)
    paths = found.save_masks(tmp_path / "new" / "masks")
    assert [path.name for path in paths] == ["1-left.png", "2-right.png", "3-a-disk.png"]
    for i, path in enumerate(paths):
        assert_array_equal(np.asarray(Image.open(path)), 255 * found.mask(i))


def test_an_indexed_image_has_255_for_no_segment():
    labels = np.array([[0, -1]], dtype=np.int16)
    assert np.asarray(make_label_image(labels, 1)).tolist() == [[0, 255]]
    with raises("too_many_segments", max_segments=255, n_segments=256):
        make_label_image(labels, 256)


def test_a_format_that_nobody_knows_is_refused_and_leaves_nothing(found, tmp_path):
    with raises("unknown_image_format", path=str(tmp_path / "overlay.xyz"), suffix=".xyz"):
        found.save(tmp_path / "overlay.xyz")
    assert list(tmp_path.iterdir()) == []


def test_masks_are_written_all_or_none(found, tmp_path):
    (tmp_path / "3-a-disk.png").mkdir()
    with raises("is_folder", path=str(tmp_path / "3-a-disk.png")):
        found.save_masks(tmp_path)
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == []
