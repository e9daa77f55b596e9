from datetime import date, timedelta

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose
from tests.coded import raises, warns

from mixsearch.errors import SearchError
from mixsearch.table.encoding import TableEncoder

N = 400


def make_columns(seed=0, n=N):
    rng = np.random.default_rng(seed)
    days = [date(2020, 1, 1) + timedelta(days=int(day)) for day in rng.integers(0, 1000, size=n)]
    return {
        "area": rng.normal(80, 25, size=n).tolist(),
        "rooms": rng.integers(1, 6, size=n).tolist(),
        "city": rng.choice(["Oslo", "Rome", "Lima"], size=n, p=[0.6, 0.3, 0.1]).tolist(),
        "garden": (rng.random(n) < 0.3).tolist(),
        "built": days,
    }


def test_every_kind_of_column_has_mean_0_and_total_variance_1():
    encoder = TableEncoder()
    features = encoder.fit_transform(make_columns())
    assert encoder.columns_ == ("area", "rooms", "city", "garden", "built")
    assert encoder.feature_names_ == (
        "area", "rooms", "city=Lima", "city=Oslo", "city=Rome", "garden=False", "garden=True", "built",
    )  # fmt: skip
    assert_allclose(features.mean(axis=0), 0, atol=1e-12)
    column_of_feature = [name.partition("=")[0] for name in encoder.feature_names_]
    variances = features.var(axis=0)
    for column in encoder.columns_:
        assert_allclose(sum(variances[np.array(column_of_feature) == column]), 1)


@pytest.mark.parametrize(
    "convert",
    [
        pd.DataFrame,
        lambda columns: pd.DataFrame(columns).convert_dtypes(),
        pa.table,
        lambda c: pa.table(c).to_batches()[0],
        pl.DataFrame,
    ],
    ids=["pandas", "extension types", "pyarrow", "record batch", "polars"],
)
def test_every_kind_of_table_gives_the_same_features(convert):
    columns = make_columns()
    columns["area"][3] = columns["city"][5] = columns["garden"][7] = columns["built"][9] = None
    expected = TableEncoder().fit(columns)
    table = convert(columns)
    encoder = TableEncoder().fit(table)
    assert encoder.feature_names_ == expected.feature_names_
    assert_allclose(encoder.transform(table), expected.transform(columns), atol=1e-9)
    assert_allclose(expected.transform(table), expected.transform(columns), atol=1e-9)


def test_a_plain_array_is_standardised_and_not_changed():
    X = np.random.default_rng(1).normal(5, 3, size=(N, 4))
    X[0, 1] = np.nan
    before = X.copy()
    X.flags.writeable = False
    encoder = TableEncoder().fit(X)
    present = np.delete(np.arange(N), 0)
    assert encoder.feature_names_ == ("x0", "x1", "x2", "x3")
    assert_allclose(encoder.transform(X)[present], ((X - np.nanmean(X, axis=0)) / np.nanstd(X, axis=0))[present])
    np.testing.assert_array_equal(X, before)


def test_more_rows_than_a_chunk_and_than_the_sorted_sample_are_standardised_exactly():
    X = np.random.default_rng(2).exponential(size=(120_000, 2)).astype(np.float32)
    X[:, 1] = np.clip(X[:, 1], 0, 5)
    features = TableEncoder().fit_transform(X)
    assert_allclose(features[:, 1].mean(), 0, atol=1e-9)
    assert_allclose(features[:, 1].std(), 1)
    assert_allclose(np.corrcoef(features[:, 1], X[:, 1])[0, 1], 1)


def test_missing_categories_and_unknown_ones_are_neutral():
    encoder = TableEncoder().fit({"city": ["Rome", None, "Oslo", "Rome", float("nan"), "Oslo"]})
    assert encoder.feature_names_ == ("city=Oslo", "city=Rome")
    assert not encoder.transform({"city": [None, "Lima"]}).any()


def test_dates_and_times_with_a_zone_are_numbers_of_days():
    times = pd.date_range("2024-03-01 12:30", periods=30, freq="7h", tz="Europe/Rome")
    for table in ({"t": times.to_pydatetime().tolist()}, pd.DataFrame({"t": times}), pa.table({"t": pa.array(times)})):
        features = TableEncoder().fit_transform(table)[:, 0]
        assert_allclose(np.diff(features), (features[-1] - features[0]) / 29)


def test_missing_numbers_become_the_median():
    values = np.random.default_rng(3).exponential(size=1000)
    holed = values.copy()
    holed[:3] = [np.nan, np.inf, -np.inf]
    encoder = TableEncoder().fit({"x": holed})
    assert encoder.feature_names_ == ("x",)
    found = encoder.transform({"x": [np.nan, np.inf, np.median(holed[3:])]})
    assert_allclose(found[:, 0], found[2, 0])


def test_a_category_that_nearly_all_rows_share_puts_the_others_not_far_away():
    features = TableEncoder().fit_transform({"flag": ["no"] * 999 + ["yes"]})
    assert np.linalg.norm(features[-1] - features[0]) < 10


def test_constant_and_empty_columns_are_dropped():
    table = {
        "same": [0.1 + 0.2, 0.3, 0.3, 0.3],
        "one": ["a"] * 4,
        "none": [None] * 4,
        "nan": np.full(4, np.nan),
        "nested": [[1], [2, 5], [3], [4]],
        "x": [1.0, 2.0, 4.0, 1.5],
    }
    for each in (table, pd.DataFrame(table), pa.table(table)):
        encoder = TableEncoder().fit(each)
        assert encoder.columns_ == ("x",)
        reasons = encoder.dropped_columns_
        assert reasons["same"] == reasons["one"] == "constant"
        assert reasons["none"] == reasons["nan"] == "no values"
        assert reasons["nested"] == "values that are neither numbers, dates, text nor vectors of one length"


def test_ids_and_free_text_are_dropped():
    rng = np.random.default_rng(6)
    table = {
        "x": rng.normal(size=N),
        "name": [f"row {i}" for i in range(N)],
        "street": [f"street {i}" for i in rng.integers(0, 50, size=N)],
        "customer_id": rng.permutation(10 * N)[:N],
        "userId": rng.permutation(10 * N)[:N],
        "Unnamed: 0": np.arange(7, N + 7),
        "n": rng.permutation(N) + 1,
        "code": [str(number) for number in rng.integers(10_000, 99_999, size=N)],
        "zip": [f"{number:05}" for number in rng.integers(500, 99_999, size=N)],
        "paid": rng.permutation(10 * N)[:N],
        "year": np.arange(1600, 1600 + N),
        "group_id": rng.integers(0, 5, size=N),
    }
    encoder = TableEncoder().fit(table)
    assert encoder.columns_ == ("x", "paid", "year", "group_id")
    reasons = encoder.dropped_columns_
    assert {reasons[name] for name in ("customer_id", "userId", "Unnamed: 0", "n")} == {
        "an id: a different integer in every row"
    }
    assert reasons["name"] == "an id or free text: 400 different texts in 400 rows"
    assert reasons["street"] == "an id or free text: 50 different texts in 400 rows"
    assert reasons["code"] == reasons["zip"] == "numbers stored as text: convert the column to numbers"
    assert TableEncoder(max_categories=50).fit(table).columns_ == ("x", "street", "paid", "year", "group_id")


def make_text(n_others, n=N):
    numbers = np.random.default_rng(1).normal(size=n)
    texts = [str(number) for number in numbers]
    others = ["unknown", "$12.50", "see note"]
    for i in range(n_others):
        texts[3 * i], numbers[3 * i] = others[i % 3], np.nan
    return texts, numbers


@pytest.mark.parametrize(("n_others", "make"), [(1, dict), (20, pd.DataFrame), (20, pa.table)])
def test_text_of_which_nearly_all_is_numbers_is_read_as_numbers(make, n_others):
    texts, numbers = make_text(n_others)
    encoder = TableEncoder()
    with warns("text_among_numbers", column="x") as caught:
        features = encoder.fit_transform(make({"x": texts}))
    assert_allclose(features, TableEncoder().fit_transform({"x": numbers}))
    note = caught[0].message
    assert (note.code, note.fields["column"], note.fields["n_values"]) == ("text_among_numbers", "x", n_others)
    assert set(note.fields["values"]) == {"unknown", "$12.50", "see note"} & set(texts)
    assert_allclose(encoder.transform(make({"x": texts[:50]})), features[:50])
    assert_allclose(encoder.transform({"x": numbers[:50]}), features[:50])
    assert_allclose(encoder.get_column(make({"x": texts}), "x").values, numbers)


@pytest.mark.parametrize(
    "texts",
    [
        [*make_text(21)[0]],  # too few are numbers
        [*make_text(1)[0], "007"],  # codes
        [*(str(number) for number in range(10_000, 10_400)), "unknown", "01234"],
        [*make_text(1)[0], "1,234"],  # thousands or decimals
    ],
)
def test_codes_and_texts_among_numbers_stay_text(texts):
    with raises("no_usable_column"):
        TableEncoder().fit({"x": texts})


def test_columns_that_are_named_are_used_even_if_they_look_like_ids():
    rng = np.random.default_rng(7)
    table = {"id": rng.permutation(N), "x": rng.normal(size=N), "y": rng.normal(size=N)}
    assert TableEncoder().fit(table, columns=["y", "id"]).columns_ == ("y", "id")
    assert TableEncoder().fit(rng.normal(size=(N, 3)), columns=[2, 0]).columns_ == ("x2", "x0")


def test_a_few_wild_values_do_not_spoil_the_scale():
    values = np.random.default_rng(9).normal(50, 2, size=1000)
    wild = values.copy()
    wild[:2] = [1e30, -1e300]
    encoder = TableEncoder().fit({"x": wild})
    features = encoder.transform({"x": wild})
    assert np.abs(features[2:]).max() < 5
    assert 5 < features[0, 0] < 15
    assert -15 < features[1, 0] < -5


@pytest.mark.parametrize(("shift", "scale"), [(1e12, 1.0), (0.0, 1e140), (0.0, 1e-200)])
def test_magnitudes_do_not_matter(shift, scale):
    values = np.random.default_rng(11).normal(size=N)
    features = TableEncoder().fit_transform({"x": shift + scale * values})
    assert_allclose(features[:, 0], (values - values.mean()) / values.std(), atol=1e-3)


@pytest.mark.parametrize(
    ("table", "columns", "code"),
    [
        ({"a": [1, 1], "b": [None, None]}, None, "no_usable_column"),
        (np.empty((3, 0)), None, "too_few_rows"),
        ({"a": [1.0]}, None, "too_few_rows"),
        ({"a": [1, 2], "b": [1, 2, 3]}, None, "ragged_columns"),
        (np.arange(3), None, "not_a_table"),
        ("houses.csv", None, "not_a_table"),
        ({"a": [1.0, 2.0]}, ["b"], "unknown_column"),
        ({"a": [1.0, 2.0]}, "a", "bad_argument"),
    ],
)
def test_tables_that_cannot_be_used_are_refused(table, columns, code):
    with pytest.raises(SearchError) as raised:
        TableEncoder().fit(table, columns=columns)
    assert raised.value.code == code


def test_repeated_names_get_a_number():
    values = np.random.default_rng(14).normal(size=(9, 3))
    for table in (pd.DataFrame(values, columns=["a", "b", "a"]), pa.table(list(values.T), names=["a", "b", "a"])):
        assert TableEncoder().fit(table).columns_ == ("a", "b", "a (2)")


def test_transform_needs_the_columns_and_kinds_of_the_fit():
    X = np.random.default_rng(15).normal(size=(9, 3))
    for table, other in ((make_columns(), {"area": [1.0]}), (X, np.hstack([X, X[:, :1]]))):
        with pytest.raises(SearchError) as raised:
            TableEncoder().fit(table).transform(other)
        assert raised.value.code == "other_columns"
    encoder = TableEncoder().fit({"x": [1.0, 2.0, 5.0]})
    with pytest.raises(SearchError) as raised:
        encoder.transform({"x": ["a"]})
    assert raised.value.code == "other_kind"
    assert_allclose(encoder.transform({"x": [None]}), encoder.transform({"x": [2.0]}))


@pytest.fixture
def embedded():
    """Vectors of two groups, far from each other, and one that is missing."""
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(60, 8)) + np.repeat([[6.0], [-6.0]], 30, axis=0)
    return vectors, [*map(list, vectors[:59]), None]


@pytest.mark.parametrize("make", [lambda column: {"e": column}, lambda column: pa.table({"e": column})])
def test_vectors_are_features_on_one_scale(embedded, make):
    vectors, column = embedded
    encoder = TableEncoder().fit(make(column))
    features = encoder.transform(make(column))
    assert features.shape == (60, 8)
    assert np.mean(features[:59].var(axis=0)) == pytest.approx(1)
    assert np.allclose(features[59], 0)
    distances = np.linalg.norm(features[:5] - features[0], axis=1)
    expected = np.linalg.norm(vectors[:5] - vectors[0], axis=1)
    assert np.allclose(distances[1:] / distances[1], expected[1:] / expected[1])


def test_vectors_must_be_of_the_length_of_the_fit(embedded):
    with raises("other_dimension", expected=8, found=3):
        TableEncoder().fit({"e": embedded[1]}).transform({"e": [np.ones(3)]})
