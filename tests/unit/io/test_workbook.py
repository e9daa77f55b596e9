"""Excel workbooks: typed cells, no formulas, within Excel's limits."""

import datetime

import openpyxl
import polars as pl
import pytest
from tests.coded import raises

from mixsearch.io import workbook
from mixsearch.table import read_table, write_table

DAY = datetime.date(2024, 2, 29)
NOON = datetime.datetime(2024, 2, 29, 12, 30)
ROME = NOON.replace(tzinfo=datetime.timezone(datetime.timedelta(hours=1)))
HOSTILE = ["=1+1", "+1", "-1", "@SUM(A1)", '=HYPERLINK("http://evil")', "=cmd|' /C calc'!A0"]


def write(path, columns):
    write_table(columns, path)
    page = openpyxl.load_workbook(path)["Table"]
    return page, [[cell.value for cell in row] for row in page.iter_rows()]


def test_values_keep_their_types(tmp_path):
    values = {"text": "x", "n": 3, "x": 2.5, "yes": True, "day": DAY, "noon": NOON, "rome": ROME, "large": 2**60}
    columns = {name: [value, None] for name, value in values.items()} | {"not finite": [float("inf"), float("nan")]}
    page, rows = write(tmp_path / "a.xlsx", {**columns, "list": [[1, {"a": None}], None]})
    midnight, utc = datetime.datetime(2024, 2, 29), datetime.datetime(2024, 2, 29, 11, 30)
    assert rows[1] == ["x", 3, 2.5, True, midnight, NOON, utc, str(2**60), None, '[1, {"a": null}]']
    assert set(rows[2]) == {None}
    assert page["A1"].font.bold
    assert page.freeze_panes == "A2"


def test_no_text_is_a_formula(tmp_path):
    page, rows = write(tmp_path / "a.xlsx", {HOSTILE[0]: HOSTILE})
    assert [row[0] for row in rows] == [HOSTILE[0], *HOSTILE]
    assert {row[0].data_type for row in page.iter_rows()} == {"s"}
    assert read_table(tmp_path / "a.xlsx").to_series().to_list() == HOSTILE


def test_limits_of_excel_are_kept(tmp_path, monkeypatch):
    _, rows = write(tmp_path / "a.xlsx", {"text": ["x" * 40_000, "two\nlines\tof \U0001f600"]})
    assert [len(row[0]) for row in rows[1:]] == [32_767, 14]
    monkeypatch.setattr(workbook, "MAX_ROWS", 1)
    with raises("too_many_rows", n_rows=1):
        write_table({"x": [1, 2]}, tmp_path / "b.xlsx")
    assert not (tmp_path / "b.xlsx").exists()


@pytest.mark.parametrize("title", ["a[1]: b/c?", "x" * 40])
def test_titles_are_changed_as_needed(tmp_path, title):
    workbook.write_workbook(tmp_path / "a.xlsx", [(title, pl.DataFrame({"x": [1]}))])
    assert len(openpyxl.load_workbook(tmp_path / "a.xlsx").sheetnames[0]) <= 31
