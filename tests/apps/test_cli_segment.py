import json

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from PIL import Image
from tests.apps.cli import invoke
from tests.unit.image.images import as_bytes, halves

from mixsearch import segment

SEEDS = ("--seed", "5,20", "--seed", "50,20")


@pytest.fixture
def photo(tmp_path):
    Image.fromarray(as_bytes(halves()[0])).save(tmp_path / "photo.png")
    return tmp_path / "photo.png"


def test_the_overlay_is_that_of_the_library(photo, tmp_path):
    result = invoke("segment", photo, *SEEDS, "-o", tmp_path / "out.png")
    assert result.exit_code == 0, result.output
    expected = segment(photo, [(5, 20), (50, 20)])
    assert_array_equal(np.asarray(Image.open(tmp_path / "out.png")), expected.overlay())
    assert "out.png" in result.stderr
    assert result.stdout.splitlines()[0].split() == ["image", "60", "x", "40", "pixels"]
    assert all("of the image, expected overlap " in line for line in result.stdout.splitlines()[1:])


def test_masks_labels_and_json_in_one_go(photo, tmp_path):
    result = invoke(
        *("segment", photo, "--seed", "sky=5,20+10,10", "--seed", "50,20"),
        *("--masks", tmp_path / "masks", "--labels", tmp_path / "labels.png", "--json"),
    )
    assert result.exit_code == 0, result.output
    printed = json.loads(result.stdout)
    assert (printed["width"], printed["height"]) == (60, 40)
    sky, other = printed["segments"]
    assert (sky["name"], sky["seeds"]) == ("sky", [[5, 20], [10, 10]])
    assert (other["name"], other["seeds"]) == ("segment 2", [[50, 20]])
    labels = np.asarray(Image.open(tmp_path / "labels.png"))
    assert [np.count_nonzero(labels == i) for i in (0, 1)] == [sky["pixels"], other["pixels"]]
    assert sky["share"] == pytest.approx(sky["pixels"] / 2400)
    assert_array_equal(np.asarray(Image.open(tmp_path / "masks" / "1-sky.png")), 255 * (labels == 0))
    assert len(printed["written"]) == 3


def test_exclusions_strokes_and_cut_outs(photo, tmp_path):
    result = invoke(
        *("segment", photo, "--seed", "left=5,10~5,30", "--not-seed", "left=50,20"),
        *("--cut-outs", tmp_path / "cut", "--json"),
    )
    assert result.exit_code == 0, result.output
    left, rest = json.loads(result.stdout)["segments"]
    assert (len(left["seeds"]), rest["name"]) == (21, "rest")
    cut = np.asarray(Image.open(tmp_path / "cut" / "1-left.png"))
    assert (cut[20, 5, 3], cut[20, 50, 3]) == (255, 0)


@pytest.mark.parametrize(
    ("arguments", "code", "fields"),
    [
        (("--seed", "5;20"), "bad_seed", {}),
        (("--seed", "5,90"), "seed_outside", {"x": 5, "y": 90, "width": 60, "height": 40}),
        (("--seed", "5,20", "-o", "out.xyz"), "unknown_image_format", {"path": "out.xyz", "suffix": ".xyz"}),
    ],
)
def test_an_error_has_a_code_and_fields(photo, tmp_path, monkeypatch, arguments, code, fields):
    monkeypatch.chdir(tmp_path)
    result = invoke("segment", photo, *arguments, "--json")
    assert result.exit_code == 1
    error = json.loads(result.stdout)["error"]
    assert error["code"] == code
    assert fields.items() <= error["fields"].items()
    assert [path.name for path in tmp_path.iterdir()] == ["photo.png"]


def test_a_command_without_an_output_ends_with_code_2(photo):
    result = invoke("segment", photo, "--seed", "5,20")
    assert result.exit_code == 2
    assert "--output" in result.stderr
