import numpy as np
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal

from mixsearch.errors import SearchError
from mixsearch.table import get_numbers, list_numeric_columns, with_columns

TABLE = pa.table(
    {
        "area": [50, None, 70],
        "new": [True, None, False],
        "city": ["Rome", "Oslo", None],
        "rate": [1.5, float("inf"), float("nan")],
    }
)


@pytest.mark.parametrize("table", [TABLE, TABLE.to_pandas(), TABLE.to_pydict()])
def test_numbers_and_booleans_are_numbers_and_what_is_not_finite_is_missing(table):
    nan = np.nan
    assert_array_equal(get_numbers(table, ["rate", "new", "area"]), [[1.5, 1, 50], [nan, nan, nan], [nan, 0, 70]])
    assert list_numeric_columns(table) == ["area", "new", "rate"]


def test_columns_of_text_are_named_with_the_argument():
    with pytest.raises(SearchError, match="x needs columns of numbers, but 'city' is not numeric") as raised:
        get_numbers(TABLE, ["area", "city"], "x")
    assert raised.value.code == "not_numbers"


def test_no_columns_are_an_error():
    with pytest.raises(SearchError, match="x names no column") as raised:
        get_numbers(TABLE, [], "x")
    assert raised.value.code == "no_columns"


def test_a_column_is_added_or_replaced_and_nan_is_missing():
    once = with_columns(TABLE, {"membership": np.array([0.1, np.nan, 0.9])})
    assert once.column_names == [*TABLE.column_names, "membership"]
    assert once["membership"].to_pylist() == [0.1, None, 0.9]
    twice = with_columns(once, {"membership": np.zeros(3)})
    assert twice["membership"].to_pylist() == [0, 0, 0]
    assert twice.num_columns == once.num_columns
