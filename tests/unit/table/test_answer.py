import json

import pytest
from tests.unit.table.planted import WEIGHTS, group_of_row, make_patients

from mixsearch import TableSearch, find
from mixsearch.errors import SearchError
from mixsearch.table import TableAnswer, describe_members, get_rows


@pytest.fixture(scope="module")
def answer() -> TableAnswer:
    found = TableSearch().fit(make_patients(), id="patient").search([0, 3, 6], not_like=[1])
    return describe_members(found, n_rows=4, n_next=2, id="patient")


def test_the_answer_holds_the_facts_in_the_units_of_the_table(answer):
    by_column = {each.column: each for each in answer.differences}
    weight = by_column["weight (kg)"]
    assert weight.members == pytest.approx(WEIGHTS[0], abs=6 * weight.stderr)
    assert by_column["ward"].members["north"] > 0.9
    assert answer.n_table_rows == 150
    assert answer.n_members.low <= 50 <= answer.n_members.high
    assert answer.dropped_columns == {"patient": "it names the rows", "country": "constant"}


def test_rows_come_with_their_ids_and_values(answer):
    assert [row.id for row in answer.like] == ["P-0", "P-3", "P-6"]
    assert [row.membership for row in answer.not_like] == [0.0]
    assert (len(answer.typical_rows), len(answer.ask_next)) == (4, 2)
    for row in answer.typical_rows:
        assert group_of_row()[row.row] == 0
        assert row.values["patient"] == row.id == f"P-{row.row}"


def test_the_answer_is_plain_json(answer):
    shown = json.loads(json.dumps(answer.as_dict(), allow_nan=False))
    assert shown["n_members"] == answer.n_members._asdict()
    assert shown["like"][0]["values"]["admitted"].startswith("2024-01-")
    dates = next(each for each in shown["differences"] if each["column"] == "admitted")
    assert dates["members"] < "2024-02" < dates["all_rows"]


@pytest.mark.parametrize("package", ["pandas", "polars", "pyarrow", "builtins"])
def test_rows_of_any_table_are_read(package):
    frame = {"pyarrow": "table", "builtins": "dict"}.get(package, "DataFrame")
    table = getattr(pytest.importorskip(package), frame)({"x": [1.5, 2.5, 3.5], "name": ["a", "b", "c"]})
    assert get_rows(table, [2, 0]) == [{"x": 3.5, "name": "c"}, {"x": 1.5, "name": "a"}]
    assert get_rows(table, []) == []


def test_an_unknown_column_of_names_is_named():
    found = find({"x": [1.0, 1.1, 0.9, 9.0, 9.2, 8.9]}, like=[0])
    with pytest.raises(SearchError, match=r"The table has no column 'name'. Its columns: x"):
        describe_members(found, id="name")
