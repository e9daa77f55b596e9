import numpy as np
from numpy.testing import assert_allclose
from skimage.color import rgb2lab

from mixsearch.segmentation._color import convert_to_lab


def test_colours_are_those_of_scikit_image():
    rgb = np.random.default_rng(0).random((20, 30, 3)) ** 2  # dark ones too, where the curve is straight
    assert_allclose(convert_to_lab(rgb), rgb2lab(rgb), atol=0.02)


def test_grey_has_no_colour():
    grey = np.linspace(0, 1, 20)[:, None].repeat(3, axis=1)
    assert_allclose(convert_to_lab(grey)[:, 1:], 0, atol=0.01)
