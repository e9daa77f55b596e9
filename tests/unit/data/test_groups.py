from collections import Counter
from datetime import UTC, date, datetime, timedelta

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mixsearch.data.groups import MIN_PERIODS, PERIODS, make_groups
from mixsearch.errors import ArgumentError, SearchError


def label_of(day, every):
    iso = day.isocalendar()
    return {
        "year": f"{day.year:04d}",
        "quarter": f"{day.year:04d}-Q{(day.month + 2) // 3}",
        "month": f"{day.year:04d}-{day.month:02d}",
        "week": f"{iso.year:04d}-W{iso.week:02d}",
        "day": day.isoformat(),
    }[every]


@given(
    days=st.lists(st.none() | st.dates(date(1890, 1, 1), date(2040, 12, 31)), min_size=1, max_size=8),
    every=st.sampled_from(PERIODS[:3]),
)
def test_every_date_is_in_the_period_of_the_calendar(days, every):
    groups = make_groups(pa.array(days, pa.date32()), every)
    assert [groups.labels[code] if code >= 0 else None for code in groups.codes] == [
        None if day is None else label_of(day, every) for day in days
    ]
    assert groups.n_missing == days.count(None)


@given(first=st.dates(date(1960, 1, 1), date(2030, 1, 1)), n_days=st.integers(1, 900), every=st.sampled_from(PERIODS))
def test_periods_have_no_gaps_and_begin_at_their_edges(first, n_days, every):
    ends = [first, first + timedelta(days=n_days - 1)]
    groups = make_groups(pa.array(ends, pa.date32()), every)
    all_days = [first + timedelta(days=n) for n in range(n_days)]
    assert list(groups.labels) == list(dict.fromkeys(label_of(day, every) for day in all_days))
    starts = [day.item() for day in groups.edges]
    assert [label_of(day, every) for day in starts[:-1]] == list(groups.labels)
    assert [label_of(day - timedelta(days=1), every) for day in starts[1:]] == list(groups.labels)
    assert groups.sizes.sum() == 2


@pytest.mark.parametrize(
    ("n_days", "every"), [(3, "day"), (40, "day"), (120, "week"), (500, "month"), (1200, "quarter"), (9000, "year")]
)
def test_the_period_follows_from_the_range(n_days, every):
    days = [date(2001, 3, 5) + timedelta(days=n) for n in range(n_days)]
    groups = make_groups(pa.array(days, pa.date32()))
    assert groups.every == every
    assert len(groups.labels) >= min(MIN_PERIODS, n_days)
    assert len(groups.labels) <= 60


def test_one_wrong_date_does_not_make_the_periods_years():
    days = [date(2024, 1, 1) + timedelta(days=n % 360) for n in range(3000)]
    assert make_groups(pa.array(days, pa.date32())).every == "month"
    with_placeholder = make_groups(pa.array([*days, date(2010, 1, 1)], pa.date32()))
    assert with_placeholder.every == "month"
    assert with_placeholder.sizes[0] == 1
    assert np.sum(with_placeholder.sizes > 0) == 13


def test_times_are_in_periods_of_their_own_zone():
    times = [datetime(2023, 12, 31, 22, 59, tzinfo=UTC), datetime(2023, 12, 31, 23, 1, tzinfo=UTC), None]
    for unit in ("s", "ms", "us", "ns"):
        in_rome = pa.array(times, pa.timestamp(unit, "Europe/Rome"))
        assert make_groups(in_rome, "year").labels == ("2023", "2024")
        assert make_groups(pa.array(times, pa.timestamp(unit, "UTC")), "year").labels == ("2023",)
    before = pa.array([datetime(1969, 12, 31, 23, 59), datetime(1970, 1, 1)], pa.timestamp("us"))
    assert make_groups(before, "day").labels == ("1969-12-31", "1970-01-01")


def test_categories_come_by_size_and_the_rest_is_other():
    values = ["b"] * 5 + ["a"] * 5 + ["c"] * 7 + list("defg") + [None]
    groups = make_groups(pa.array(values), max_groups=3)
    assert groups.labels == ("c", "a", "b", "other")
    assert groups.sizes.tolist() == [7, 5, 5, 4]
    assert (groups.n_merged, groups.n_missing) == (4, 1)
    assert groups.codes[-1] == -1
    one_left = make_groups(pa.array([*values[:17], "d"]), max_groups=3)
    assert one_left.labels == ("c", "a", "b", "d")
    assert one_left.n_merged == 0


def test_a_category_called_other_stays_apart():
    groups = make_groups(pa.array(["other"] * 3 + list("abc")), max_groups=1)
    assert groups.labels == ("other", "other values")
    assert groups.sizes.tolist() == [3, 3]


@pytest.mark.parametrize("kind", [pa.string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string())], ids=str)
def test_categories_in_chunks_with_their_own_levels(kind):
    parts = [pa.array(part).cast(kind) for part in (["x", None, "y"], ["y", "z", "y"])]
    groups = make_groups(pa.chunked_array(parts))
    assert groups.labels == ("y", "x", "z")
    assert groups.codes.tolist() == [1, -1, 0, 0, 2, 0]


def test_true_and_false_are_categories():
    groups = make_groups(pa.array([True, True, False, None]))
    assert groups.labels == ("true", "false")
    assert groups.codes.tolist() == [0, 0, 1, -1]


@pytest.mark.parametrize("kind", [pa.int8(), pa.float64(), pa.decimal128(21, 1)], ids=str)
def test_whole_numbers_in_a_small_range_have_no_gaps(kind):
    groups = make_groups(pa.array([1, 5, 3, None, 3]).cast(kind))
    assert groups.kind == "number"
    assert groups.labels == ("1", "2", "3", "4", "5")
    assert groups.sizes.tolist() == [1, 0, 2, 0, 1]
    assert groups.n_missing == 1


def test_few_numbers_are_groups_of_their_own():
    groups = make_groups(pa.array([0.5, 1000.0, float("nan"), 0.5, 2.25]))
    assert groups.labels == ("0.5", "2.25", "1000")
    assert groups.codes.tolist() == [0, 2, -1, 0, 1]


@given(
    values=st.lists(st.floats(-1e6, 1e6), min_size=25, max_size=60, unique=True),
    every=st.none() | st.sampled_from([1000.0, 333.3]),
)
def test_ranges_hold_their_numbers(values, every):
    groups = make_groups(pa.array(values), every)
    if groups.kind != "range":
        return
    low, high = groups.edges[groups.codes], groups.edges[groups.codes + 1]
    is_last = groups.codes == len(groups.labels) - 1
    assert np.all(low <= values)
    assert np.all((values < high) | is_last)
    assert len(set(groups.labels)) == len(groups.labels)
    assert np.all(np.diff(groups.edges) >= 0)
    assert groups.sizes.sum() == len(values)


@pytest.mark.parametrize("scale", [1e308, 1e-310, 1e-3])
def test_numbers_at_the_limits_of_floats_have_groups(scale):
    values = np.linspace(-1, 1, 101) * scale
    offset = 1e12 if scale == 1e-3 else 0
    groups = make_groups(pa.array(values + offset))
    assert groups.sizes.sum() == 101
    assert len(set(groups.labels)) == len(groups.labels) > 1


def test_ranges_have_round_edges():
    groups = make_groups(pa.array(np.linspace(0.003, 0.997, 500)))
    assert groups.labels[0] == "0 to <0.1"
    assert groups.labels[3] == "0.3 to <0.4"
    assert groups.every == pytest.approx(0.1)
    assert groups.codes[250] == 5


def test_a_width_can_be_given():
    groups = make_groups(pa.array([-1, 0, 9, 10, 35]), every=10)
    assert groups.labels == ("-10 to <0", "0 to <10", "10 to <20", "20 to <30", "30 to <40")
    assert groups.sizes.tolist() == [1, 2, 1, 0, 1]


def test_skewed_numbers_are_in_ranges_of_about_equal_counts():
    values = np.random.default_rng(0).lognormal(3, 2, 5000)
    groups = make_groups(pa.array(values))
    assert len(groups.labels) == 10
    assert groups.labels[0].startswith("under ")
    assert groups.labels[-1].endswith(" or more")
    assert groups.sizes.max() < 0.15 * len(values)
    assert groups.sizes.min() > 0.05 * len(values)


def test_mostly_zeros_give_ranges_that_all_have_rows():
    values = np.concatenate([np.zeros(900), np.arange(1, 101) * 10.0])
    groups = make_groups(pa.array(values))
    assert groups.sizes.min() > 0
    assert groups.sizes.sum() == 1000


@pytest.mark.parametrize("kind", [pa.null(), pa.string(), pa.float64(), pa.date32(), pa.bool_()], ids=str)
def test_a_column_without_values_has_no_groups(kind):
    for column in (pa.nulls(3, kind), pa.array([], kind), pa.chunked_array([], kind)):
        groups = make_groups(column)
        assert groups.labels == ()
        assert groups.n_missing == len(column)


@pytest.mark.parametrize(
    ("column", "every", "error", "code", "sentence"),
    [
        (pa.array([date(2024, 1, 1)]), "hour", ArgumentError, "bad_period", "one of year, quarter, .* got 'hour'"),
        (pa.array([1.0]), "month", ArgumentError, "bad_period", "must be a positive number .* got 'month'"),
        (pa.array([1.0]), -1, ArgumentError, "bad_period", "got -1"),
        (
            pa.array(["a"]),
            "month",
            ArgumentError,
            "bad_period",
            "for dates and numbers.* of type string",
        ),
        (pa.array([[1]]), None, SearchError, "cannot_group", "list<.* cannot be grouped"),
        (pa.array([date(1, 1, 1), date(9999, 1, 1)]), "day", SearchError, "too_many_periods", "3,651,695 periods"),
        (pa.array([0.0, 1e9]), 1, SearchError, "too_many_ranges", "more than 10,000 ranges of width 1"),
    ],
)
def test_errors_are_one_sentence_with_a_code(column, every, error, code, sentence):
    with pytest.raises(error, match=sentence) as raised:
        make_groups(column, every)
    assert raised.value.code == code


def test_weeks_begin_on_monday_in_the_iso_calendar():
    sunday, monday = date(2020, 1, 5), date(2020, 1, 6)
    groups = make_groups(pa.array([date(2019, 12, 30), sunday, monday]), "week")
    assert groups.labels == ("2020-W01", "2020-W02")
    assert Counter(groups.codes.tolist()) == {0: 2, 1: 1}
