"""Tables of any kind: further columns, numbers, rows and ids."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from tests.coded import raises, warns

from mixsearch.io.frames import add_columns
from mixsearch.table.rows import find_rows, get_rows

X = np.random.default_rng(0).normal(size=(30, 2))
MORE = {"membership": np.linspace(0, 1, 30), "is_member": np.arange(30) > 12}


def check(frame, names):
    frame = frame if isinstance(frame, pd.DataFrame) else frame.to_pandas()
    assert list(frame.columns) == [*names, "membership", "is_member"]
    assert frame["membership"].tolist() == MORE["membership"].tolist()
    assert frame["is_member"].tolist() == MORE["is_member"].tolist()
    for name, column in zip(names, X.T, strict=True):
        assert frame[name].tolist() == column.tolist()


@pytest.mark.parametrize(
    ("table", "names"),
    [
        (X, ["x0", "x1"]),
        ({"a": X[:, 0], "b": X[:, 1]}, ["a", "b"]),
        (pd.DataFrame(X, columns=["a", "b"], index=np.arange(30) + 100), ["a", "b"]),
        (pa.table({"a": X[:, 0], "b": X[:, 1]}), ["a", "b"]),
    ],
    ids=["array", "dict", "pandas", "pyarrow"],
)
def test_tables_become_frames_with_further_columns(table, names):
    frame = add_columns(table, MORE)
    check(frame, names)
    if isinstance(table, pd.DataFrame):
        assert frame.index.tolist() == table.index.tolist()


def test_polars_stays_polars():
    polars = pytest.importorskip("polars")
    table = polars.DataFrame({"a": X[:, 0], "b": X[:, 1], "is_member": X[:, 0]})
    frame = add_columns(table, MORE)
    assert isinstance(frame, polars.DataFrame)
    assert set(frame.columns) == {"a", "b", "membership", "is_member"}
    assert frame["is_member"].to_list() == MORE["is_member"].tolist()


TABLE = pa.table(
    {
        "area": [50, None, 70],
        "new": [True, None, False],
        "city": ["Rome", "Oslo", None],
        "rate": [1.5, float("inf"), float("nan")],
    }
)


@pytest.mark.parametrize("table", [TABLE, TABLE.to_pandas(), TABLE.to_pydict()])
def test_rows_of_any_table_are_read(table):
    assert get_rows(table, []) == []
    assert [row["city"] for row in get_rows(table, [1, 0])] == ["Oslo", "Rome"]


def test_a_column_is_added_or_replaced_and_nan_is_missing():
    once = add_columns(TABLE, {"membership": np.array([0.1, np.nan, 0.9])})
    assert once.column_names == [*TABLE.column_names, "membership"]
    assert once["membership"].to_pylist() == [0.1, None, 0.9]
    twice = add_columns(once, {"membership": np.zeros(3)})
    assert twice["membership"].to_pylist() == [0, 0, 0]
    assert twice.num_columns == once.num_columns


@pytest.mark.parametrize(
    ("values", "wanted"),
    [
        (["a", "b", "c"], ["c", "a"]),
        ([10, 20, 30], ["30", " 10"]),
        (np.array([10.0, 20.0, 30.5]), ["30.5", "10"]),
        (["10", "20", "30"], [30, 10.0]),
    ],
)
def test_rows_come_in_the_order_of_their_ids(values, wanted):
    assert find_rows(values, wanted).tolist() == [2, 0]


def test_an_id_of_several_rows_gives_all_and_a_repeated_id_counts_once():
    with warns("repeated_ids", n_rows=2, listed="a") as caught:
        assert find_rows(["a", "b", "a"], ["a", "a"]).tolist() == [0, 2]
    assert (caught[0].message.code, caught[0].message.fields["ids"]) == ("repeated_ids", ["a"])
    assert find_rows(["a", "b", "a"], ["b"]).tolist() == [1]


def test_ids_that_are_in_no_row_are_listed():
    with raises("unknown_rows", n_missing=2, n_wanted=3, n_rows=4, missing="z, 9", first="a, b, c, d") as e:
        find_rows(["a", "b", "c", "d"], ["z", "b", 9])
    assert e.value.fields["missing_ids"] == ["z", "9"]
