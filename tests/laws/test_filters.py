"""A filter matches the same rows as an evaluation row by row; any text gives a filter or one error."""

import operator
from contextlib import suppress
from datetime import date, datetime, timedelta
from decimal import Decimal

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from mixsearch.errors import SearchError
from mixsearch.io.filters import Filter

# An oracle: filters as trees of tuples, spelled with random blanks and case, evaluated row by row in Kleene's logic.

ROWS = st.fixed_dictionaries(
    {
        "i": st.none() | st.integers(-3, 3),
        "f": st.none() | st.sampled_from([float("nan"), -1.5, 0.0, 0.1, 2.0, 1e10]),
        "d": st.none() | st.dates(date(2023, 12, 28), date(2024, 3, 3)),
        "t": st.none() | st.datetimes(datetime(2024, 1, 31, 23, 58), datetime(2024, 2, 1, 0, 3)),
        "s": st.none() | st.text("aAbÅå'\"`%_.", max_size=3),
        "c": st.none() | st.sampled_from(["Rome", "rome", "", "Oslo"]),
        "b": st.none() | st.booleans(),
        "two words": st.none() | st.decimals(-2, 2, places=2),
    }
)
TYPES = {
    "i": pl.Int8,
    "f": pl.Float64,
    "d": pl.Date,
    "t": pl.Datetime("us"),
    "s": pl.String,
    "c": pl.Categorical,
    "b": pl.Boolean,
    "two words": pl.Decimal(9, 2),
}
ORDERS = {
    "=": operator.eq,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
TEXTS = st.text("aAbBÅå'\"`%_.", max_size=2)
PERIODS = st.sampled_from(["2024", "2023", "2024-01", "2024-02", "2023-12-31", "2024-02-29"])
MINUTES = st.integers(0, 4).map(lambda n: f"{datetime(2024, 1, 31, 23, 59) + timedelta(minutes=n):%Y-%m-%dT%H:%M}")


def quote(text):
    return '"' + text.replace('"', '""') + '"'


def find_start_and_end(text):
    if len(text) > 10:
        start = datetime.fromisoformat(text)
        return start, start + timedelta(minutes=1)
    year, month, day = ([int(part) for part in text.split("-")] + [0, 0])[:3]
    start = datetime(year, month or 1, day or 1)
    if day:
        return start, start + timedelta(days=1)
    return start, datetime(year + (not month or month == 12), month % 12 + 1 if month else 1, 1)


def compare_with_period(order, value, text):
    start, end = find_start_and_end(text)
    moment = value if isinstance(value, datetime) else datetime(value.year, value.month, value.day)
    place = -1 if moment < start else 1 if moment >= end else 0
    return ORDERS[order](place, 0)


@st.composite
def leaves(draw):
    """Draw a condition on one column: its text, and a function that evaluates it for a value that is not missing."""
    column = draw(st.sampled_from(list(TYPES)))
    name = f"`{column}`" if " " in column else column
    if draw(st.integers(0, 5)) == 0:
        return f"{name} is missing", column, None
    if column == "b":
        value = draw(st.booleans())
        return f"b = {'TRUE' if value else 'false'}", column, lambda x: x == value
    order = draw(st.sampled_from(list(ORDERS)))
    if column in "dt":
        text = draw(PERIODS | MINUTES)
        return f"{name}{order}{text}", column, lambda x: compare_with_period(order, x, text)
    if column in "sc":
        return draw(text_leaves(column, order))
    number = draw(st.sampled_from(["0", "-1.5", "2", "+1", "0.1", "1e10", "200", "-3", ".25", "-.0"]))
    exact = float(number) if column == "f" else Decimal(number)
    if draw(st.booleans()):
        return f"{name} in ({number}, 3)", column, lambda x: x in (exact, 3)
    return f"{name} {order} {number}", column, lambda x: ORDERS[order](x, exact)


@st.composite
def text_leaves(draw, column, order):
    text = draw(TEXTS | st.just("Rome"))
    folded = text.lower()
    forms = {
        f"{order} {quote(text)}": lambda x: ORDERS[order](x, text),
        f"contains {quote(text)}": lambda x: folded in x.lower(),
        f"Starts  WITH {quote(text)}": lambda x: x.lower().startswith(folded),
        f"ends with {quote(text)}": lambda x: x.lower().endswith(folded),
        f"IN ({quote(text)},'b')": lambda x: x in (text, "b"),
    }
    form = draw(st.sampled_from(list(forms)))
    return f"{column} {form}", column, forms[form]


def is_missing(value):
    return value is None or value != value


def evaluate_leaf(leaf, row):
    _, column, holds = leaf
    if holds is None:
        return is_missing(row[column])
    return None if is_missing(row[column]) else holds(row[column])


def truth(tree, row):
    """Return True, False, or None if unknown."""
    kind, *parts = tree
    if kind == "leaf":
        return evaluate_leaf(parts[0], row)
    values = [truth(part, row) for part in parts]
    if kind == "not":
        return None if values[0] is None else not values[0]
    decisive = kind == "or"
    return decisive if decisive in values else None if None in values else not decisive


def spell(tree):
    kind, *parts = tree
    if kind == "leaf":
        return parts[0][0]
    if kind == "not":
        return f"NOT ({spell(parts[0])})"
    return f" {kind}\n".join(f"({spell(part)})" for part in parts)


TREES = st.recursive(
    leaves().map(lambda leaf: ("leaf", leaf)),
    lambda inner: (
        st.tuples(st.just("not"), inner)
        | st.tuples(st.just("and"), inner, inner)
        | st.tuples(st.just("or"), inner, inner, inner)
    ),
    max_leaves=5,
)


@settings(max_examples=150)
@given(tree=TREES, rows=st.lists(ROWS, min_size=1, max_size=6), cut=st.integers(0, 5))
def test_a_filter_matches_the_rows_that_an_evaluation_row_by_row_matches(tree, rows, cut):
    columns = [pl.Series(name, [row[name] for row in rows], dtype) for name, dtype in TYPES.items()]
    frame = pl.DataFrame(columns)
    chunked = pl.concat([frame[:cut], frame[cut:]], rechunk=False)
    expected = [truth(tree, row) is True for row in rows]
    assert Filter(spell(tree)).mask(chunked).tolist() == expected


PIECES = [
    *("stars <= 2", "date >= 2024-01-01", "shop in ('Rome', 'Oslo')", "`unit price` != 3.5e2", "title contains 'x'"),
    *(
        "open",
        "seen > 2024-05-31 18:30:00.5",
        "seen = 2024-05-31T18:30+02:00",
        "date between 2024-01 and 2024-06",
        "price is not missing",
    ),
    *("and", "or", "not", "(", ")", "`", '"', "'", "2024-02-30", "1e999", "9" * 60, "is missing", "in ()", ",", "in"),
    *("__import__('os')", "\x00", "\ud800", "＝", "\u0660", ";", "--", "{0}", "\\", "..", "0001-01-01", "true", "nan"),
    "9999-12-31T23:59:59.999999",
]


@given(pieces=st.lists(st.sampled_from(PIECES) | st.text(max_size=2), max_size=6), blank=st.sampled_from(["", " "]))
def test_any_text_gives_an_answer_or_one_error(pieces, blank):
    row = {"stars": 1, "date": date(2024, 1, 1), "shop": "Rome", "unit price": 3.5, "title": "x", "price": None}
    frame = pl.DataFrame([{**row, "open": True, "seen": datetime(2024, 5, 31)}] * 3)
    with suppress(SearchError):
        mask = Filter(blank.join(pieces)).mask(frame)
        assert (mask.dtype, mask.shape) == (bool, (3,))
