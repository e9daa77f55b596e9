import re
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from mixsearch.data.filters import parse_filter
from mixsearch.data.filters.parser import MAX_CHARACTERS, MAX_DEPTH
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


def make_error(text, table=None):
    with pytest.raises(SearchError) as raised:
        parse_filter(text).mask(pa.table({"x": [1]}) if table is None else table)
    return raised.value


@pytest.mark.parametrize(
    ("text", "code", "sentence"),
    [
        ("  ", "filter_empty", "The filter is empty"),
        (3, "filter_not_text", "must be text, got int"),
        ("x = " + "1" * MAX_CHARACTERS, "filter_too_long", "10,004 characters; at most 10,000"),
        ("(" * (MAX_DEPTH + 1) + "x = 1", "filter_too_deep", "more than 50 levels"),
        ("x = ", "filter_syntax", "at its end: expected a value"),
        ("x = y", "filter_syntax", "character 5, 'y': expected a value; text goes in quotes"),
        ("x & 1", "filter_syntax", "character 3, '&': write and"),
        ('x = "1', "filter_syntax", "character 5, '\"1': the quote that opens here is never closed"),
        ("x 3", "filter_syntax", "expected a comparison after the column 'x'"),
        ("3 < x", "filter_syntax", "character 1, '3': expected the name of a column"),
        ("x in 3", "filter_syntax", "expected \\( after in"),
        ("x in (1 2)", "filter_syntax", "expected \\) or a comma"),
        ("x between 1 or 2", "filter_syntax", "expected and and the upper bound"),
        ("x is null", "filter_syntax", "expected missing or not missing"),
        ("x contains 3", "filter_syntax", "expected text in quotes after contains"),
        ("(x = 1", "filter_syntax", "to close the parenthesis"),
        ("x = 1 x", "filter_syntax", "expected and, or, or the end"),
        ("x = 1,5", "filter_syntax", "character 6, ','"),
        ("x = \ud800", "filter_syntax", "this is no character"),
        ("x = 1e500", "filter_value", "'1e500' in the filter is neither a number nor a date"),
        ("x > 2024-13", "filter_value", "'2024-13'"),
        ("x > 2024-05-31T24:00", "filter_value", "neither"),
        ("x = true", "filter_type", "'x' holds numbers: it cannot be compared with true or false. Example: x >= 3"),
        ("x = 2024-05", "filter_type", "cannot be compared with a date"),
        ("x contains 'a'", "filter_type", "contains needs text"),
        ("xy = 1", "unknown_column", "names 'xy', but there is no such column. The columns are: x. Did you mean 'x'"),
        ("stars = 1", "unknown_column", "columns are: x.$"),
    ],
)  # fmt: skip
def test_errors_are_one_sentence_with_a_code(text, code, sentence):
    error = make_error(text)
    assert error.code == code
    assert re.search(sentence, str(error))


def test_the_caret_stands_under_the_place():
    error = make_error("x = 1 and\ty = oops")
    line, caret = error.fields["caret"].split("\n")
    assert line == "x = 1 and y = oops"
    assert line[caret.index("^") :] == "oops"
    assert error.fields["position"] == 15
    long = make_error(" " * 500 + "x = oops")
    line, caret = long.fields["caret"].split("\n")
    assert line[caret.index("^") :] == "oops"
    assert len(line) < 80


def test_types_that_can_only_be_missing_and_an_order_of_true_and_false():
    table = pa.table({"v": [[1.0], None], "b": [True, None], "none": pa.nulls(2)})
    error = make_error("v = 1", table)
    assert error.code == "filter_type"
    assert "list<" in str(error)
    assert str(error).endswith("Example: v is missing.")
    assert rows_matching("v is missing", table) == [2]
    assert "< needs an order. Example: b = true" in str(make_error("b < true", table))
    assert rows_matching('none = "x" or not none = 1', table) == []
    assert rows_matching("none missing", table) == [1, 2]


def test_a_repeated_name_is_ambiguous():
    table = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["x", "x"])
    assert make_error("x = 1", table).code == "ambiguous_column"


@pytest.mark.parametrize("kind", [pa.int64(), pa.uint64(), pa.decimal128(38, 0), pa.decimal256(50, 10)], ids=str)
def test_large_numbers_are_compared_exactly(kind):
    values = [2**53, 2**53 + 1, 2**53 + 2, None]
    table = pa.table({"x": pa.array([None if each is None else Decimal(each) for each in values]).cast(kind)})
    assert rows_matching(f"x = {2**53 + 1}", table) == [2]
    assert rows_matching(f"x > {2**53}.5", table) == [2, 3]
    assert rows_matching("x < 1e300 and x > -1e300", table) == [1, 2, 3]
    assert rows_matching("x > 1e300 or x < -1e300 or x = 1e300", table) == []
    assert rows_matching(f"x in ({2**53}, 1e300, 0.5)", table) == [1]
    assert rows_matching("x not in (1, 2.5)", table) == [1, 2, 3]


@pytest.mark.parametrize("kind", [pa.float16(), pa.float32(), pa.float64()], ids=str)
def test_a_decimal_equals_the_float_that_a_column_rounds_it_to(kind):
    values = np.array([0.1, 0.2, np.nan, -np.inf]).astype(kind.to_pandas_dtype())
    table = pa.table({"x": pa.array(values, kind)})
    assert rows_matching("x = 0.1", table) == [1]
    assert rows_matching("x <= 0.1", table) == [1, 4]
    assert rows_matching("x in (0.1, 0.2)", table) == [1, 2]
    assert rows_matching("x not in (0.1)", table) == [2, 4]
    assert rows_matching("x != 0.1", table) == [2, 4]
    assert rows_matching("not x = 0.1", table) == [2, 4]
    assert rows_matching("x < 1e300", table) == [1, 2, 4]
    assert rows_matching("x is missing", table) == [3]


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
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


def test_a_fraction_of_a_second_is_as_long_as_its_last_digit():
    times = [datetime(2024, 1, 1, 0, 0, 0, micros) for micros in (499_999, 500_000, 599_999, 600_000)]
    table = pa.table({"t": pa.array(times, pa.timestamp("us"))})
    assert rows_matching("t = 2024-01-01T00:00:00.5", table) == [2, 3]
    assert rows_matching("t > 2024-01-01 00:00:00.50", table) == [3, 4]


def test_an_unknown_zone_is_one_sentence():
    table = pa.table({"t": pa.array([0], pa.int64()).cast(pa.timestamp("us", "Mars/Olympus"))})
    assert make_error("t > 2024", table).code == "unknown_zone"
    assert rows_matching("t < 2024-01-01T00:00Z", table) == [1]


@pytest.mark.parametrize(
    "kind", [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int32(), pa.string())]
)
def test_all_types_of_text(kind):
    table = pa.table({"s": pa.chunked_array([pa.array(["Ab", None]).cast(kind), pa.array(["b", ""]).cast(kind)])})
    assert rows_matching('s contains "B"', table) == [1, 3]
    assert rows_matching('not s contains "B"', table) == [4]
    assert rows_matching('s > "B"', table) == [3]
    assert rows_matching('s not in ("b", "")', table) == [1]
    assert rows_matching("s missing", table) == [2]
    assert rows_matching("s not missing", table) == [1, 3, 4]


def test_a_pattern_has_no_special_signs():
    table = pa.table({"s": ["a.c", "abc", "50%", "(x"]})
    assert rows_matching('s contains "A.C"', table) == [1]
    assert rows_matching('s starts with "("', table) == [4]
    assert rows_matching('s ends with "%"', table) == [3]


def test_an_empty_table_and_an_empty_category_give_an_empty_mask():
    table = pa.table({"x": pa.array([], pa.int64()), "c": pa.array([], pa.dictionary(pa.int8(), pa.string()))})
    for text in ("x > 3 and c = 'a'", "x > 1e300", "c missing"):
        assert parse_filter(text).mask(table).shape == (0,)
    no_chunks = pa.schema([("c", pa.dictionary(pa.int8(), pa.string()))]).empty_table()
    assert parse_filter("c = 'a' or c missing").mask(no_chunks).shape == (0,)


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("x==02.50", "x = 2.5"),
        ("X = 1e3 AND (y = -0 and z)", "X = 1000 and y = 0 and z = true"),
        ("x = 1E+25", "x = 1E+25"),
        ("not not x not in ('a')", 'not x in ("a")'),
        ("not (not x is not missing)", "not x is missing"),
        ("(x = 1 or y = 2) and z = 3", "(x = 1 or y = 2) and z = 3"),
        ("x between 1 and 2 or y", "x >= 1 and x <= 2 or y = true"),
        ("'a b' = '`' and `c``d` = 1", 'a b = "`" and `c``d` = 1'.replace("a b", "`a b`")),
        ("`and` = 1 and missing missing", "`and` = 1 and missing is missing"),
        ("t = 2024-05-31   18:30z", "t = 2024-05-31T18:30Z"),
    ],
)
def test_a_filter_has_one_spelling(text, canonical):
    assert str(parse_filter(text)) == canonical
    assert parse_filter(canonical) == parse_filter(text)
    assert hash(parse_filter(canonical)) == hash(parse_filter(text))


def test_true_is_not_one():
    assert parse_filter("x = true") != parse_filter("x = 1")


def test_the_columns_are_those_named():
    assert parse_filter("not (b = 1 or a is missing) and 'c d' in (2) and b").columns == ("b", "a", "c d")


def test_words_of_the_language_can_be_columns():
    table = pa.table({"starts": [1, 2], "in": [3, 4], "is": [True, False], "true": ["a", "b"]})
    assert rows_matching("starts > 1 and in = 4 and not is and true in ('b')", table) == [2]
