"""A Dask table gives the same answers as the table in memory, whatever its blocks."""

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from tests.coded import raises
from tests.unit.table.planted import group_of_row, make_patients

from mixsearch import TableSearch, find
from mixsearch.datasets import make_gaussian_mixture
from mixsearch.table import describe_members
from mixsearch.table import fit as _fit
from mixsearch.table import summaries as _summaries
from mixsearch.table.encoding import TableEncoder
from mixsearch.table.rows import get_rows

pytestmark = pytest.mark.filterwarnings("ignore::mixsearch.errors.DoubtfulExamplesWarning")


@pytest.fixture(autouse=True, params=["synchronous", "threads"])
def scheduler(request):
    # Dask makes text of all objects otherwise, of vectors too.
    with dask.config.set({"scheduler": request.param, "dataframe.convert-string": False}):
        yield


def make_frame() -> pd.DataFrame:
    """Numbers, dates, categories, vectors, ids and missing values, some of these only in the first rows."""
    frame = make_patients().to_pandas()
    frame.loc[frame.index[:20], "age"] = np.nan
    frame.loc[frame.index[3:9], "ward"] = None
    frame["number"] = np.arange(len(frame))
    vectors = np.random.default_rng(1).normal(size=(len(frame), 3)) + 4 * np.eye(3)[group_of_row()]
    frame["embedding"] = list(vectors)
    return frame


def split(frame: pd.DataFrame, ends: list[int]) -> dd.DataFrame:
    """Return a Dask data frame with blocks that end at these rows; some may be empty."""
    starts = [0, *ends]
    blocks = [dask.delayed(frame.iloc[start:end]) for start, end in zip(starts, [*ends, len(frame)], strict=True)]
    return dd.from_delayed(blocks, meta=frame.iloc[:0])


def assert_same(found, expected):
    """Check that two answers agree in everything."""
    assert_allclose(found.membership, expected.membership, atol=1e-8)
    assert_allclose(found.score, expected.score, rtol=1e-4, atol=1e-8)  # the tolerance of conjugate gradients
    assert found.n_members == expected.n_members
    assert found.confidence == pytest.approx(expected.confidence)
    assert (found.carried_by, found.like, found.not_like) == (expected.carried_by, expected.like, expected.not_like)
    assert_array_equal(found.predict(), expected.predict())
    assert_array_equal(found.typical_rows(5), expected.typical_rows(5))
    for a, b in zip(found.differences(), expected.differences(), strict=True):
        assert a.column == b.column
        assert a.effect == pytest.approx(b.effect)
        assert a.members == (b.members if not isinstance(b.members, float | dict) else pytest.approx(b.members))
        assert a.stderr == (None if b.stderr is None else pytest.approx(b.stderr))


@pytest.mark.parametrize("ends", [[50, 100], [1, 1, 13, 120, 150]])
def test_a_data_frame_is_encoded_as_in_memory(ends):
    frame = make_frame()
    there, here = TableSearch().fit(split(frame, ends), id="patient"), TableSearch().fit(frame, id="patient")
    assert there.columns_ == here.columns_
    assert there.dropped_columns_ == here.dropped_columns_
    assert (there.n_components_, there.covariance_) == (here.n_components_, here.covariance_)
    rows = np.arange(len(frame))
    assert_allclose(there._fit.take_features(rows), here._fit.take_features(rows), atol=1e-10)


@pytest.mark.parametrize("max_nodes", [1000, 60])
def test_an_answer_is_that_of_memory(max_nodes, monkeypatch):
    for name in ("MAX_NODES", "N_NODES"):
        monkeypatch.setattr(_fit, name, max_nodes)
    frame = make_frame()
    there, here = (TableSearch().fit(table, id="patient") for table in (split(frame, [40, 100]), frame))
    assert_same(there.search([0, 3, 141], not_like=[1]), here.search([0, 3, 141], not_like=[1]))
    rows = frame.iloc[[2, 5]]
    assert_same(there.search(rows), here.search(rows))
    found, expected = there.search([30, 33]), here.search([30, 33])
    assert (group_of_row()[found.predict()] == 0).mean() > 0.9
    shown, known = (describe_members(each, id="patient") for each in (found, expected))
    assert [row.id for row in shown.typical_rows] == [row.id for row in known.typical_rows]
    assert [row.values["age"] for row in shown.like] == [row.values["age"] for row in known.like]


@pytest.mark.parametrize("chunks", [((400,), (6,)), ((1, 199, 200), (2, 4))])
def test_an_array_is_a_table(chunks):
    data = make_gaussian_mixture(400, 6, 3, deviation=0.5, random_state=0)
    X = data.X.copy()
    X[5, 2] = np.nan
    rows = np.flatnonzero(data.labels == 1)[:3]
    there, here = find(da.from_array(X, chunks=chunks), rows), find(X, rows)
    assert_same(there, here)
    assert (data.labels[there.predict()] == 1).mean() > 0.95


def test_order_statistics_of_a_sample_do_not_depend_on_the_blocks(monkeypatch):
    monkeypatch.setattr(_summaries, "MAX_SORTED", 50)
    monkeypatch.setattr("mixsearch.table.features.MAX_SORTED", 50)
    rng = np.random.default_rng(0)
    X = rng.standard_t(2, size=(1000, 3))
    X[rng.random(1000) < 0.7, 1] = np.nan
    whole, blocks = TableEncoder().fit(X), TableEncoder().fit(da.from_array(X, chunks=(130, 2)))
    for a, b in zip(whole._features, blocks._features, strict=True):
        assert (a.limits, a.median) == (b.limits, b.median)
        assert a.scale == pytest.approx(b.scale, rel=1e-12)


def test_the_table_comes_back_with_its_membership_as_a_dask_data_frame():
    frame = make_frame()
    found = TableSearch().fit(split(frame, [70]), id="patient").search([0, 3])
    labelled = found.to_frame()
    assert isinstance(labelled, dd.DataFrame)
    computed = labelled.compute()
    assert_allclose(computed["membership"], found.membership)
    assert computed["patient"].tolist() == frame["patient"].tolist()
    assert computed["is_member"].sum() == found.n_members.n


def test_new_rows_of_a_dask_table_get_a_lazy_membership():
    frame = make_frame()
    found = TableSearch().fit(frame, id="patient").search([0, 3])
    for table in (split(frame, [70]), frame):
        rows = found.membership_of(table)
        assert_allclose(np.asarray(rows), found.membership_of(frame))
    assert isinstance(found.membership_of(split(frame, [70])), da.Array)


def test_kinds_that_differ_between_blocks_are_left_out():
    frame = pd.DataFrame({"x": np.arange(40.0) % 7, "mixed": [1.5] * 20 + ["a"] * 20}, dtype=object)
    frame["vector"] = [np.zeros(2)] * 20 + [np.ones(3)] * 20
    search = TableSearch().fit(split(frame, [20]))
    assert search.columns_ == ("x",)
    assert set(search.dropped_columns_) == {"mixed", "vector"}


def test_free_text_in_many_blocks_is_counted_up_to_a_limit(monkeypatch):
    for module in ("summaries", "features"):
        monkeypatch.setattr(f"mixsearch.table.{module}.MAX_LEVELS", 30)
    frame = pd.DataFrame({"x": np.arange(90.0) % 7, "note": [f"text {row}" for row in range(90)]})
    search = TableSearch().fit(split(frame, [20, 50]))
    assert "more than 30 different texts in 90 rows" in search.dropped_columns_["note"]


def test_where_rows_in_memory_are_needed_a_dask_table_is_refused():
    with raises("not_in_memory", kind="DataFrame"):
        get_rows(split(make_frame(), [70]), [0])
