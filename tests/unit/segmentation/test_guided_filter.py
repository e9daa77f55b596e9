import numpy as np
from numpy.testing import assert_allclose

from mixsearch.segmentation import read_image
from mixsearch.segmentation.guided_filter import GuidedPosterior, compute_luma, fit_guided_filter, interpolate


def test_interpolation_keeps_straight_lines_between_the_outer_pixels():
    factor, height, width = 4, 6, 9
    y, x = np.mgrid[:height, :width] * factor + (factor - 1) / 2  # where the squares of pixels have their middle
    enlarged = interpolate(
        np.stack([2 * x - y, y + 1]).astype(np.float32), np.arange(8, 12), np.arange(width * factor), factor
    )
    rows, columns = np.mgrid[8:12, : width * factor]
    inside = slice(2, -2)
    assert_allclose(enlarged[0][:, inside], (2 * columns - rows)[:, inside], atol=1e-4)
    assert_allclose(enlarged[1][:, inside], (rows + 1)[:, inside], atol=1e-4)


def test_memberships_keep_their_sum():
    rng = np.random.default_rng(0)
    members = rng.dirichlet(np.ones(3), size=(20, 30)).transpose(2, 0, 1)
    picture = read_image(rng.random((20, 30, 3)))
    layer = GuidedPosterior(fit_guided_filter(members, compute_luma(picture.rows(slice(None)))), picture, 1)
    assert_allclose(layer.scores(slice(0, 20)).sum(axis=0), 1, rtol=1e-4)
    probabilities = layer.probabilities(slice(5, 9))
    assert probabilities.shape == (3, 4, 30)
    assert probabilities.min() >= 0
    assert_allclose(probabilities.sum(axis=0), 1, rtol=1e-5)


def test_blurred_memberships_come_back_to_the_edge_of_the_picture():
    picture = np.zeros((200, 400))
    picture[:, 100:] = 1
    across = np.clip((np.arange(400) - 95) / 8, 0, 1)  # five pixels wide to both sides of about 99
    members = np.tile(np.stack([1 - across, across])[:, None], (1, 200, 1))
    found = GuidedPosterior(fit_guided_filter(members, picture), read_image(picture), 1).scores(slice(None))
    assert np.argmax(found[1][30] > 0.5) == 100
    assert np.diff(found[1][30])[99] > 3 * np.diff(across)[99]


def test_specks_in_a_flat_picture_are_smoothed_away():
    members = np.zeros((2, 200, 200))
    members[0] = 1
    members[:, 90, 90] = 0, 1
    flat = np.full((200, 200), 0.4)
    found = GuidedPosterior(fit_guided_filter(members, flat), read_image(flat), 1)
    assert found.scores(slice(None))[1].max() < 0.1
