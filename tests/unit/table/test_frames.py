import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from mixsearch import TableSearch
from mixsearch.errors import SearchError
from mixsearch.table._frames import with_columns

X = np.random.default_rng(0).normal(size=(30, 2))
MORE = {"membership": np.linspace(0, 1, 30), "is_member": np.arange(30) > 12}


def check(frame, names):
    frame = frame.to_pandas() if isinstance(frame, pa.Table) else frame
    assert list(frame.columns) == [*names, "membership", "is_member"]
    assert frame["membership"].tolist() == MORE["membership"].tolist()
    assert frame["is_member"].tolist() == MORE["is_member"].tolist()
    for name, column in zip(names, X.T, strict=True):
        assert frame[name].tolist() == column.tolist()


@pytest.mark.parametrize(
    ("table", "names"),
    [
        (X, ["x0", "x1"]),
        (X.tolist(), ["x0", "x1"]),
        ({"a": X[:, 0], "b": X[:, 1]}, ["a", "b"]),
        (pd.DataFrame(X, columns=["a", "b"], index=np.arange(30) + 100), ["a", "b"]),
        (pa.table({"a": X[:, 0], "b": X[:, 1]}), ["a", "b"]),
    ],
    ids=["array", "list", "dict", "pandas", "pyarrow"],
)
def test_tables_become_frames_with_further_columns(table, names):
    check(with_columns(table, MORE), names)


def test_the_index_of_a_frame_stays():
    table = pd.DataFrame(X, index=np.arange(30) + 100)
    assert with_columns(table, MORE).index.tolist() == table.index.tolist()


def test_polars_stays_polars():
    polars = pytest.importorskip("polars")
    table = polars.DataFrame({"a": X[:, 0], "b": X[:, 1], "is_member": X[:, 0]})
    frame = with_columns(table, MORE)
    assert isinstance(frame, polars.DataFrame)
    assert set(frame.columns) == {"a", "b", "membership", "is_member"}
    assert frame["is_member"].to_list() == MORE["is_member"].tolist()


def test_without_pandas_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(SearchError, match="pip install pandas") as caught:
        with_columns(X, MORE)
    assert caught.value.code == "package_missing"


def test_an_answer_is_a_frame_with_membership_and_members():
    table = pd.DataFrame(X, columns=["a", "b"])
    found = TableSearch().fit(table).search(like=[1, 2])
    frame = found.to_frame()
    assert list(frame.columns) == ["a", "b", "membership", "is_member"]
    assert frame["is_member"].tolist() == found.predict().tolist()
    assert frame["membership"].tolist() == found.membership.tolist()
    pd.testing.assert_frame_equal(frame[["a", "b"]], table)


def test_columns_of_the_same_name_are_replaced():
    table = pd.DataFrame({"a": X[:, 0], "membership": X[:, 1]})
    found = TableSearch().fit(table).search(like=[1, 2])
    assert found.to_frame()["membership"].tolist() == found.membership.tolist()
    assert table["membership"].tolist() == X[:, 1].tolist()
