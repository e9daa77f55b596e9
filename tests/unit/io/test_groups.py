from datetime import UTC, date, datetime, timedelta

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.coded import raises

from mixsearch.io.groups import MIN_PERIODS, PERIODS, make_groups


def label_of(day, every):
    iso = day.isocalendar()
    return {
        "year": f"{day.year:04d}",
        "quarter": f"{day.year:04d}-Q{(day.month + 2) // 3}",
        "month": f"{day.year:04d}-{day.month:02d}",
        "week": f"{iso.year:04d}-W{iso.week:02d}",
        "day": day.isoformat(),
    }[every]


@given(first=st.dates(max_value=date(9990, 1, 1)), n_days=st.integers(1, 900), every=st.sampled_from([*PERIODS]))
def test_periods_are_those_of_the_calendar_without_gaps(first, n_days, every):
    all_days = [first + timedelta(days=n) for n in range(n_days)]
    days = [all_days[n_days // 2], all_days[-1], first]
    groups = make_groups(pl.Series([*days, None], dtype=pl.Date), every)
    assert [groups.labels[code] for code in groups.codes[:3]] == [label_of(day, every) for day in days]
    assert (groups.codes[3], (groups.codes < 0).sum(), groups.sizes.sum()) == (-1, 1, 3)
    assert list(groups.labels) == list(dict.fromkeys(label_of(day, every) for day in all_days))
    starts = [day.item() for day in groups.edges]
    assert [label_of(day, every) for day in starts[:-1]] == list(groups.labels)
    assert [label_of(day - timedelta(days=1), every) for day in starts[1:]] == list(groups.labels)


@pytest.mark.parametrize(("n_days", "every"), [(3, "day"), (120, "week"), (1200, "quarter"), (9000, "year")])
def test_the_period_follows_from_the_range(n_days, every):
    days = [date(2001, 3, 5) + timedelta(days=n) for n in range(n_days)]
    groups = make_groups(pl.Series(days, dtype=pl.Date))
    assert groups.every == every
    assert len(groups.labels) >= min(MIN_PERIODS, n_days)
    assert len(groups.labels) <= 60


def test_times_are_in_periods_of_their_own_zone():
    times = [datetime(2023, 12, 31, 22, 59, tzinfo=UTC), datetime(2023, 12, 31, 23, 1, tzinfo=UTC), None]
    for unit in ("ms", "us", "ns"):
        in_utc = pl.Series(times, dtype=pl.Datetime(unit, "UTC"))
        assert make_groups(in_utc, "year").labels == ("2023",)
        in_rome = pl.Series("^t$", in_utc.cast(pl.Datetime(unit, "Europe/Rome")))  # a name that may be a pattern
        assert make_groups(in_rome, "year").labels == ("2023", "2024")
    before = pl.Series([datetime(1969, 12, 31, 23, 59), datetime(1970, 1, 1)])
    assert make_groups(before, "day").labels == ("1969-12-31", "1970-01-01")


def test_categories_come_by_size_and_the_rest_is_other():
    values = ["b"] * 5 + ["a"] * 5 + ["c"] * 7 + list("defg") + [None]
    groups = make_groups(pl.Series(values), max_groups=3)
    assert groups.labels == ("c", "a", "b", "other")
    assert groups.sizes.tolist() == [7, 5, 5, 4]
    assert (groups.codes < 0).sum() == 1
    assert groups.codes[-1] == -1
    one_left = make_groups(pl.Series([*values[:17], "d"]), max_groups=3)
    assert one_left.labels == ("c", "a", "b", "d")


@pytest.mark.parametrize("dtype", [pl.Int8, pl.Decimal(21, 1)], ids=str)
def test_whole_numbers_in_a_small_range_have_no_gaps(dtype):
    groups = make_groups(pl.Series([1, 5, 3, None, 3]).cast(dtype))
    assert groups.kind == "number"
    assert groups.labels == ("1", "2", "3", "4", "5")
    assert groups.sizes.tolist() == [1, 0, 2, 0, 1]
    assert (groups.codes < 0).sum() == 1


@given(
    values=st.lists(st.floats(-1e6, 1e6), min_size=25, max_size=60, unique=True),
    every=st.none() | st.sampled_from([1000.0, 333.3]),
)
def test_ranges_hold_their_numbers(values, every):
    groups = make_groups(pl.Series(values), every)
    if groups.kind != "range":
        return
    low, high = groups.edges[groups.codes], groups.edges[groups.codes + 1]
    is_last = groups.codes == len(groups.labels) - 1
    assert np.all(low <= values)
    assert np.all((values < high) | is_last)
    assert len(set(groups.labels)) == len(groups.labels)
    assert np.all(np.diff(groups.edges) >= 0)
    assert groups.sizes.sum() == len(values)


def test_skewed_numbers_are_in_ranges_of_about_equal_counts():
    values = np.random.default_rng(0).lognormal(3, 2, 5000)
    groups = make_groups(pl.Series(values))
    assert len(groups.labels) == 10
    assert groups.labels[0].startswith("under ")
    assert groups.labels[-1].endswith(" or more")
    assert groups.sizes.max() < 0.15 * len(values)
    assert groups.sizes.min() > 0.05 * len(values)


@pytest.mark.parametrize("dtype", [pl.Null, pl.String, pl.Categorical, pl.Float64, pl.Date], ids=str)
def test_a_column_without_values_has_no_groups(dtype):
    for column in (pl.Series([None] * 3, dtype=dtype), pl.Series([], dtype=dtype)):
        groups = make_groups(column)
        assert groups.labels == ()
        assert (groups.codes < 0).sum() == len(column)


@pytest.mark.parametrize(
    ("column", "every", "code"),
    [
        (pl.Series([date(2024, 1, 1)]), "hour", "bad_period"),
        (pl.Series([1.0]), -1, "bad_period"),
        (pl.Series(["a"]), "month", "bad_period"),
        (pl.Series([[1]]), None, "cannot_group"),
        (pl.Series([date(1, 1, 1), date(9999, 12, 31)]), "day", "too_many_groups"),
        (pl.Series([0.0, 1e9]), 1, "too_many_groups"),
    ],
)
def test_what_cannot_be_grouped_has_a_code(column, every, code):
    with raises(code):
        make_groups(column, every)
