"""What is drawn and saved of a segmentation."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from PIL import Image
from skimage.measure import grid_points_in_poly
from tests.coded import raises
from tests.unit.image.images import as_bytes, thirds

from mixsearch import segment
from mixsearch.image.files import find_borders, iterate_masks, make_label_image, make_segment_colors, write_files

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


def test_outlines_filled_by_the_even_odd_rule_are_the_masks(found):
    for i, rings in enumerate(found.outlines(tolerance=0)):
        # The middles of pixels are at .5; grid_points_in_poly has them at whole numbers, rows first.
        filled = [grid_points_in_poly(found.labels.shape, ring[:, ::-1] - 0.5) for ring in rings]
        assert_array_equal(np.logical_xor.reduce(filled), found.mask(i))


def test_an_overlay_tints_each_segment_and_marks_the_seeds(found):
    drawn = found.overlay()
    for pixels in found.seeds:
        for x, y in pixels:
            assert tuple(drawn[y, x]) == (230, 0, 30)
    expected = (as_bytes(thirds()[0]) + make_segment_colors(3)[found.labels].astype(float)) / 2
    border, unmarked = find_borders(found.labels), np.s_[:12]  # no seed is near the upper edge
    assert (drawn[unmarked][border[unmarked]] == 255).all()
    assert np.abs(drawn[unmarked][~border[unmarked]] - expected[unmarked][~border[unmarked]]).max() <= 1


def test_a_cut_out_is_opaque_inside_transparent_outside_and_soft_between():
    picture, truth = thirds(240, 360)
    found = segment(as_bytes(picture), {"left": (30, 120), "right": (330, 120), "disk": (180, 120)})
    cut = found.cut_out("disk")
    assert_array_equal(cut[..., :3], as_bytes(picture))
    assert cut[120, 180, 3] == 255
    assert cut[10, 10, 3] == 0
    assert len(np.unique(cut[..., 3])) > 2
    assert np.mean((cut[..., 3] > 127) == (truth == 2)) > 0.98


def test_what_is_saved_is_what_is_read(found, tmp_path):
    assert_array_equal(np.asarray(Image.open(found.save(tmp_path / "overlay.png"))), found.overlay())
    write_files({tmp_path / "new" / name: mask for name, mask in iterate_masks(found.names, found.labels)})
    paths = sorted((tmp_path / "new").iterdir())
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
        write_files({tmp_path / name: mask for name, mask in iterate_masks(found.names, found.labels)})
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == []
