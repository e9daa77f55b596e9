from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from tests.coded import raises

from mixsearch.data.filters.parser import MAX_CHARACTERS, MAX_DEPTH, parse_filter
from mixsearch.errors import SearchError

PAGE = Path(__file__).parents[3] / "docs" / "columns.md"
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


def make_documented_table():
    names, _, *rows = read_rows("true or false.\n\n")
    columns = {
        name: [READ[name](row[index]) if row[index] else None for row in rows]
        for index, name in enumerate(names)
        if name in READ
    }
    return pa.table(columns)


def list_documented():
    for text, rows, _ in read_rows("| filter | rows | why |\n")[1:]:
        yield text.strip("`").strip() if not text.startswith("``") else text[3:-3], rows


def rows_matching(text, table):
    return (np.flatnonzero(parse_filter(text).mask(table)) + 1).tolist()


@pytest.mark.parametrize(("text", "expected"), list(list_documented()))
def test_the_documented_examples_match_their_rows(text, expected):
    table = make_documented_table()
    if expected.startswith("error"):
        with pytest.raises(SearchError) as raised:
            parse_filter(text).mask(table)
        assert raised.value.code == expected.split("`")[1]
    else:
        assert rows_matching(text, table) == [int(row) for row in expected.split()]


def make_error(text):
    with pytest.raises(SearchError) as raised:
        parse_filter(text).mask(pa.table({"x": [1]}))
    return raised.value


@pytest.mark.parametrize(
    ("text", "code", "fields"),
    [
        ("  ", "filter_empty", {}),
        ("x = " + "1" * MAX_CHARACTERS, "filter_too_long", {"n_characters": 10_004, "max_characters": 10_000}),
        ("(" * (MAX_DEPTH + 1) + "x = 1", "filter_too_deep", {"max_depth": 50, "position": 51}),
        ("x = ", "filter_syntax", {"found": "its end", "position": 5}),
        ("x = y", "filter_syntax", {"found": "its character 5, 'y'", "position": 5}),
        ('x = "1', "filter_syntax", {"position": 5, "problem": "the quote that opens here is never closed"}),
        ("x 3", "filter_syntax", {"found": "its character 3, '3'", "position": 3}),
        ("x = \ud800", "filter_syntax", {"position": 5, "problem": "this is no character"}),
        ("x = 1e500", "filter_value", {"found": "1e500", "position": 5}),
        ("x = 2024-05", "filter_type", {"column": "x", "problem": "it cannot be compared with a date"}),
        ("x contains 'a'", "filter_type", {"column": "x", "problem": "contains needs text"}),
        ("xy = 1", "unknown_column", {"column": "xy", "columns": ["x"], "suggestion": "x"}),
    ],
)
def test_a_filter_that_cannot_be_used_is_an_error(text, code, fields):
    with raises(code, **fields):
        parse_filter(text).mask(pa.table({"x": [1]}))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x = ", "a value, such as"),
        ("x = y", "a value; text goes in quotes"),
        ("x 3", "a comparison after the column 'x'"),
    ],
)
def test_a_filter_with_a_gap_says_what_was_expected_there(text, expected):
    assert make_error(text).fields["problem"].startswith(f"expected {expected}")


def test_the_caret_stands_under_the_place():
    error = make_error("x = 1 and\ty = oops")
    line, caret = error.fields["caret"].split("\n")
    assert line == "x = 1 and y = oops"
    assert line[caret.index("^") :] == "oops"
    assert error.fields["position"] == 15


@pytest.mark.parametrize("kind", [pa.int64(), pa.decimal256(50, 10)], ids=str)
def test_large_numbers_are_compared_exactly(kind):
    values = [2**53, 2**53 + 1, 2**53 + 2, None]
    table = pa.table({"x": pa.array([None if each is None else Decimal(each) for each in values]).cast(kind)})
    assert rows_matching(f"x = {2**53 + 1}", table) == [2]
    assert rows_matching(f"x > {2**53}.5", table) == [2, 3]
    assert rows_matching("x < 1e300 and x > -1e300", table) == [1, 2, 3]
    assert rows_matching("x > 1e300 or x < -1e300 or x = 1e300", table) == []
    assert rows_matching(f"x in ({2**53}, 1e300, 0.5)", table) == [1]
    assert rows_matching("x not in (1, 2.5)", table) == [1, 2, 3]


@pytest.mark.parametrize("unit", ["s", "ns"])
def test_dates_are_in_the_zone_of_the_column(unit):
    instants = [datetime(2024, 5, 31, 21, 59, 59), datetime(2024, 5, 31, 22, 0, 0), datetime(2024, 6, 1)]
    utc = [each.replace(tzinfo=UTC) for each in instants]
    in_summer = pa.table({"t": pa.array(utc, pa.timestamp(unit, "Europe/Rome"))})
    assert rows_matching("t = 2024-06", in_summer) == [2, 3]
    assert rows_matching("t >= 2024-06-01T00:00Z", in_summer) == [3]
    assert rows_matching("t < 2024-06-01T00:00+02:00", in_summer) == [1]
    assert rows_matching("t > 1000 and t < 9999", in_summer) == [1, 2, 3]
    without = pa.table({"t": pa.array(instants, pa.timestamp(unit))})
    assert rows_matching("t >= 2024-06", without) == [3]
    assert rows_matching("t = 2024-06-01T00:00+02:00", without) == [2]
    assert rows_matching("t < 1000 or t > 9999", without) == []


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("x==02.50", "x = 2.5"),
        ("X = 1e3 AND (y = -0 and z)", "X = 1000 and y = 0 and z = true"),
        ("not not x not in ('a')", 'not x in ("a")'),
        ("(x = 1 or y = 2) and z = 3", "(x = 1 or y = 2) and z = 3"),
        ("'a b' = '`' and `c``d` = 1", 'a b = "`" and `c``d` = 1'.replace("a b", "`a b`")),
        ("t = 2024-05-31   18:30z", "t = 2024-05-31T18:30Z"),
    ],
)
def test_a_filter_has_one_spelling(text, canonical):
    assert str(parse_filter(text)) == canonical
    assert parse_filter(canonical) == parse_filter(text)
    assert hash(parse_filter(canonical)) == hash(parse_filter(text))
