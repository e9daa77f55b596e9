import numpy as np
import pytest
from numpy.testing import assert_allclose
from skimage.color import rgb2lab
from tests.unit.segmentation.images import halves

from mixsearch import SearchError
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
    ("given", "message"),
    [
        ("texture", "features must be one of 'rgb', 'rich', got 'texture'"),
        (np.zeros((4, 5)), r"shape \(4, 5\), but an image of 40 rows and 60 columns needs"),
        (lambda rgb: rgb[:5], r"shape \(5, 60, 3\)"),
        (np.full((40, 60, 2), np.nan), "4,800 values that are NaN or infinite"),
    ],
)
def test_features_that_do_not_fit_are_refused(given, message):
    with pytest.raises(SearchError, match=message):
        compute_features(read_image(halves()[0]), given)
