from datetime import date, datetime, timedelta
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.coded import raises

from mixsearch.errors import SearchError
from mixsearch.io.filters import MAX_CHARACTERS, MAX_DEPTH, Filter

PAGE = Path(__file__).with_name("filters.md")
READ = {
    "stars": int,
    "price": float,
    "date": date.fromisoformat,
    "seen": datetime.fromisoformat,
    "shop": str,
    "title": str,
    "open": "true".__eq__,
    "unit price": int,
}


def read_rows(heading):
    lines = PAGE.read_text("utf-8").split(heading, 1)[1].split("\n\n")[0].splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]


def make_documented_frame():
    names, _, *rows = read_rows("true or false.\n\n")
    columns = {
        name: [READ[name](row[index]) if row[index] else None for row in rows]
        for index, name in enumerate(names)
        if name in READ
    }
    return pl.DataFrame(columns)


def list_documented():
    for text, rows, _ in read_rows("| filter | rows | why |\n")[1:]:
        yield text.strip("`").strip() if not text.startswith("``") else text[3:-3], rows


def rows_matching(text, frame):
    return (np.flatnonzero(Filter(text).mask(frame)) + 1).tolist()


@pytest.mark.parametrize(("text", "expected"), list(list_documented()))
def test_the_documented_examples_match_their_rows(text, expected):
    frame = make_documented_frame()
    if expected.startswith("error"):
        with pytest.raises(SearchError) as raised:
            Filter(text).mask(frame)
        assert raised.value.code == expected.split("`")[1]
    else:
        assert rows_matching(text, frame) == [int(row) for row in expected.split()]


@pytest.mark.parametrize(
    ("text", "code", "fields"),
    [
        (None, "filter_not_text", {"max_characters": 10_000}),
        ("x = " + "1" * MAX_CHARACTERS, "filter_not_text", {"max_characters": 10_000}),
        ("  ", "filter_syntax", {"position": 3}),
        ("(" * (MAX_DEPTH + 1) + "x = 1", "filter_syntax", {"position": 52}),
        ("x = ", "filter_syntax", {"position": 5}),
        ("x = y", "filter_syntax", {"position": 5}),
        ('x = "1', "filter_syntax", {"position": 5}),
        ("x 3", "filter_syntax", {"position": 3}),
        ("x = 1 y = 2", "filter_syntax", {"position": 7}),
        ("(x = 1", "filter_syntax", {"position": 7}),
        ("x = '\ud800'", "filter_syntax", {"position": 5, "caret": "x = ' '\n    ^"}),
        ("x = 1 and\ty = oops", "filter_syntax", {"position": 15, "caret": f"x = 1 and y = oops\n{' ' * 14}^"}),
        ("x = 2024-05", "filter_type", {"column": "x", "kind": "numbers", "example": "x >= 3"}),
        ("x in (1, 3abc)", "filter_type", {"condition": "in 1 3abc"}),
        ("x contains 'a'", "filter_type", {"column": "x", "kind": "numbers"}),
        ("x", "filter_type", {"condition": "= true", "kind": "numbers"}),
        ("d contains '2024'", "filter_type", {"kind": "dates"}),
        ("d = 2024-02-30", "filter_type", {"kind": "dates", "example": "d >= 2024-05-31"}),
        ("d = 2024-05-31T18:30Z", "filter_type", {"condition": "= 2024-05-31T18:30Z"}),
        ("`a b` = 1", "filter_type", {"kind": "values of type List(Int64)", "example": "`a b` is missing"}),
        ("xy = 1", "unknown_column", {"column": "xy", "columns": ["x", "a b", "d"], "suggestion": "x"}),
    ],
)
def test_a_filter_that_cannot_be_used_is_an_error(text, code, fields):
    with raises(code, **fields):
        Filter(text).mask(pl.DataFrame({"x": [1], "a b": [[1]], "d": [date(2024, 1, 1)]}))


def test_a_filter_lists_its_columns_in_order():
    assert Filter("b = 1 and (not a or `c d` in (1))").columns == ["b", "a", "c d"]


def test_ids_of_19_digits_are_compared_exactly():
    frame = pl.DataFrame({"x": [1234567890123456788, 1234567890123456789, None]})
    assert rows_matching("x = 1234567890123456789", frame) == [2]
    assert rows_matching("x in (1234567890123456788, 1.5)", frame) == [1]


@pytest.mark.parametrize(
    "text",
    [
        " or ".join(["x = 1"] * 1_100),
        "not " * 2_400 + "x = 1",
        "(" * MAX_DEPTH + "x = 1" + ")" * MAX_DEPTH,
        "x in (" + ", ".join(["1"] * 3_000) + ")",
        "s in (" + ", ".join(["'a'"] * 1_900) + ")",
        "x < " + "9" * 9_900,
        "s contains '" + "å" * 9_900 + "' or x = 1",
    ],
    ids=lambda text: text[:10],
)
def test_long_filters_are_answered(text):
    assert rows_matching(text, pl.DataFrame({"x": [1, None], "s": ["a", None]})) == [1]


@pytest.mark.parametrize(
    ("column", "text", "expected"),
    [
        (pl.Series([0.1, 1.0, None], dtype=pl.Float32), "x = 0.1 or x in (0.1)", [1]),
        (pl.Series([0.1, float("inf"), float("nan")]), "not x < 1e999", [2]),
        (pl.Series([0, 255], dtype=pl.UInt8), "x < -1 or x > 256 or x = 300 or x in (-1, 256)", []),
        (pl.Series([0, 255], dtype=pl.UInt8), "x >= -1 and x <= 256", [1, 2]),
        (pl.Series(["0.10", "0.11", None]).cast(pl.Decimal(9, 2)), "x = 0.1 or x > 0.105", [1, 2]),
        (pl.Series(["b", "a", None], dtype=pl.Enum(["b", "a"])), "x < 'b' or x contains 'B'", [1, 2]),
        (pl.Series(["b", "a", None], dtype=pl.Categorical), "x in ('a', 'c')", [2]),
        (pl.Series(["ΣΊΣΥΦΟΣ.", "a+b"]), "x contains 'σίσ' or x ends with 'A+B'", [1, 2]),
        (pl.Series([None, None]), "x = 1 or not x contains 'a' or x in (2024-05)", []),
        (pl.Series([None, [1]]), "x is missing", [1]),
        (pl.Series([True, False, None]), "x in (true) or x != true", [1, 2]),
        (pl.Series([], dtype=pl.Date), "x = 2024 or x is missing", []),
    ],
)
def test_columns_of_every_type_are_compared(column, text, expected):
    for name in ("x", "^x$", "*"):  # names that Polars may take for patterns
        frame = pl.DataFrame([pl.Series("other", [None] * len(column)), column.alias(name)])
        assert rows_matching(text.replace("x ", f"`{name}` "), frame) == expected


@pytest.mark.parametrize("unit", ["ms", "us", "ns"])
def test_dates_are_in_the_zone_of_the_column(unit):
    instants = [datetime(2024, 5, 31, 21, 59, 59), datetime(2024, 5, 31, 22, 0, 0), datetime(2024, 6, 1)]
    without = pl.DataFrame({"t": pl.Series(instants, dtype=pl.Datetime(unit))})
    in_summer = without.select(pl.col("t").dt.replace_time_zone("UTC").dt.convert_time_zone("Europe/Rome"))
    assert rows_matching("t = 2024-06", in_summer) == [2, 3]
    assert rows_matching("t in (2024-06, 2024-05-31T23:59:59)", in_summer) == [1, 2, 3]
    assert rows_matching("t >= 1000 and t <= 9999", in_summer) == [1, 2, 3]
    assert rows_matching("t >= 2024-06", without) == [3]
    assert rows_matching("t < 1000 or t > 9999", without) == []


@pytest.mark.parametrize(
    ("text", "n_hours"),
    [
        ("t = 2024-03-31", 23),
        ("t = 2024-10-27", 25),
        ("t >= 2024-10-27T02:00 and t < 2024-10-27T03:00", 2),  # shown twice
    ],
)
def test_days_are_as_long_as_the_clocks_say(text, n_hours):
    hours = pl.datetime_range(datetime(2024, 3, 1), datetime(2024, 11, 1), timedelta(hours=1), eager=True)
    frame = pl.DataFrame({"t": hours.dt.replace_time_zone("UTC").dt.convert_time_zone("Europe/Rome")})
    assert len(rows_matching(text, frame)) == n_hours


def test_dates_may_have_any_year():
    frame = pl.DataFrame({"t": [date(1, 1, 1), date(1969, 12, 31), date(9999, 12, 31)]})
    assert rows_matching("t <= 9999", frame) == [1, 2, 3]
    assert rows_matching("t > 9999 or t < 0001-01-01", frame) == []
    assert rows_matching("t = 9999-12-31 or t = 0001-01", frame) == [1, 3]
    far = pl.DataFrame({"t": pl.Series([-(2**31), 0, 3_000_000, 100_000_000, 2**31 - 1], dtype=pl.Int32).cast(pl.Date)})
    assert rows_matching("t > 9999", far) == [3, 4]  # those that microseconds cannot count are missing
