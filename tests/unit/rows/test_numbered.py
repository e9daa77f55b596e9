"""Rows with numbers in some columns, and the examples among them."""

import numpy as np
import pyarrow
import pytest
from numpy.testing import assert_array_equal

from mixsearch import SearchError
from mixsearch.rows import scale_columns, take_numbers

TABLE = pyarrow.table({"x": [1.0, None, 3.0, 4.0], "y": [1, 2, 3, None], "name": list("abcd")})


def test_rows_that_lack_a_number_are_left_out_and_come_back_as_nan():
    rows = take_numbers(TABLE, {"columns": ["x", "y"]}, np.array([2, 0, 2]), "name")
    assert_array_equal(rows.rows, [0, 2])
    assert_array_equal(rows.examples, [1, 0])
    assert rows.n_left_out == 2
    assert rows.name_examples() == "c, a"
    assert rows.describe(1, membership=0.5) == {"row": 2, "id": "c", "membership": 0.5}
    assert_array_equal(rows.spread(np.array([7.0, 8.0])), [7, np.nan, 8, np.nan])
    assert_array_equal(rows.labels, [1, 1])


@pytest.mark.parametrize(
    ("like", "code"), [([], "no_rows_named"), ([1], "example_incomplete"), ([4], "row_out_of_range")]
)
def test_examples_that_cannot_be_used_have_a_code(like, code):
    with pytest.raises(SearchError) as raised:
        take_numbers(TABLE, {"columns": ["x", "y"]}, np.array(like, dtype=int))
    assert raised.value.code == code


def test_columns_are_scaled_if_their_units_differ():
    near = np.array([[1.0, 2.0], [3.0, 7.0]])
    assert scale_columns(near)[0] is near
    far, is_scaled = scale_columns(np.array([[1.0, 0.0], [3.0, 900.0]]))
    assert is_scaled
    assert np.ptp(far.std(axis=0)) == pytest.approx(0)
    constant, _ = scale_columns(np.array([[1.0, 5.0], [3.0, 5.0]]), True)
    assert np.all(np.isfinite(constant))
