import numpy as np
import pytest
from tests.coded import raises

from mixsearch.image import parse_seeds, read_image
from mixsearch.image.seeds import check_seeds

PICTURE = read_image(np.arange(5 * 8, dtype=np.uint8).reshape(5, 8))


def test_a_seed_is_a_pixel_or_several():
    found = check_seeds([(1, 2), [(3, 4), (7, 0)], np.array([5, 1]), np.array([[0, 0], [2, 2]])], PICTURE)
    assert found.pixels == (((1, 2),), ((3, 4), (7, 0)), ((5, 1),), ((0, 0), (2, 2)))
    assert found.names == ("segment 1", "segment 2", "segment 3", "segment 4")


@pytest.mark.parametrize("seed", [(8, 0), (0, 5), (-1, 2)])
def test_a_seed_outside_the_picture_is_told_its_size(seed):
    with raises("seed_outside", x=seed[0], y=seed[1], width=8, height=5):
        check_seeds([seed, (1, 1)], PICTURE)


def test_a_pixel_of_two_segments_is_refused():
    with raises("seed_shared", x=3, y=4, first="segment 1", second="segment 2"):
        check_seeds([(3, 4), [(1, 1), (3, 4)]], PICTURE)


def test_a_seed_on_a_transparent_pixel_is_refused():
    alpha = np.ones((2, 2))
    alpha[0, 1] = 0
    with raises("seed_transparent", x=1, y=0):
        check_seeds([(1, 0)], read_image(np.dstack([np.eye(2), alpha])))


@pytest.mark.parametrize("seed", [5, (1, 2, 3), [], (1.0, np.nan), None])
def test_what_is_no_pixel_is_refused(seed):
    with raises("bad_seed", value=seed):
        check_seeds([seed], PICTURE)


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        (["sky=120,80", "3,4"], {"sky": [(120, 80)], "segment 2": [(3, 4)]}),
        (["sky:120,80+130,90"], {"sky": [(120, 80), (130, 90)]}),
        (["the sky = 120, 80 + 130 ,90"], {"the sky": [(120, 80), (130, 90)]}),
        (["a=b:c=1,2"], {"a=b:c": [(1, 2)]}),
        (["1,2 3,4"], {"segment 1": [(1, 2), (3, 4)]}),
    ],
)
def test_seeds_are_read_as_people_write_them(typed, expected):
    assert parse_seeds(typed) == expected


@pytest.mark.parametrize("typed", ["", "sky=", "1,2,3", "1;2", "9999999999,1"])
def test_what_is_no_seed_is_shown_how_one_is_written(typed):
    with raises("bad_seed", text=typed):
        parse_seeds(["1,2", typed])


def test_two_segments_of_one_name_are_refused():
    with raises("duplicate_segment", name="sky"):
        parse_seeds(["sky=1,2", "sky:3,4"])


def test_a_stroke_has_no_gaps():
    (pixels,) = parse_seeds(["0,0~30,7~12,40"]).values()
    steps = np.abs(np.diff(np.array(pixels), axis=0)).max(axis=1)
    assert (steps == 1).all()
    assert (pixels[0], pixels[-1]) == ((0, 0), (12, 40))
    assert (30, 7) in pixels
    assert parse_seeds(["0,0~3,1+9,9"]) == {"segment 1": [(0, 0), (1, 0), (2, 1), (3, 1), (9, 9)]}
