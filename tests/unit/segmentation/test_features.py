import numpy as np
import pytest
from numpy.testing import assert_allclose
from skimage.color import rgb2lab
from tests.coded import raises
from tests.unit.segmentation.images import halves

from mixsearch.segmentation import features as _features
from mixsearch.segmentation import read_image
from mixsearch.segmentation.features import compute_features, compute_rich_features
from mixsearch.segmentation.image import convert_to_lab


def test_colours_are_those_of_scikit_image():
    rgb = np.random.default_rng(0).random((20, 30, 3)) ** 2  # dark ones too, where the curve is straight
    assert_allclose(convert_to_lab(rgb), rgb2lab(rgb), atol=0.02)


def test_rich_features_have_their_units_from_the_picture():
    rich = compute_rich_features(read_image(halves()[0]))
    assert rich.shape == (40, 60, 11)
    assert_allclose(rich.mean(axis=(0, 1)), 0, atol=1e-5)
    assert_allclose(rich.std(axis=(0, 1))[:-2], 1, rtol=1e-4)
    assert_allclose(rich.std(axis=(0, 1))[-2:], _features.POSITION_SPREAD, rtol=1e-4)


def test_transparent_pixels_do_not_count():
    picture, _ = halves()
    alpha = np.ones((40, 60))
    alpha[:10] = 0
    hidden = picture.copy()
    hidden[:10] = 1.0
    given = [compute_rich_features(read_image(np.dstack([each, alpha]))) for each in (picture, hidden)]
    assert_allclose(given[0][20:], given[1][20:], atol=1e-4)


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ("texture", "bad_argument"),
        (np.zeros((4, 5)), "bad_feature_shape"),
        (lambda rgb: rgb[:5], "bad_feature_shape"),
        (np.full((40, 60, 2), np.nan), "features_not_finite"),
    ],
)
def test_features_that_do_not_fit_are_refused(given, code):
    with raises(code):
        compute_features(read_image(halves()[0]), given)
