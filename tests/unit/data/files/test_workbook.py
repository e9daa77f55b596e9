"""Excel workbooks: typed cells, no formulas, within Excel's limits."""

import datetime
import sys

import numpy as np
import openpyxl
import pandas as pd
import pytest

from mixsearch.data.files import workbook
from mixsearch.data.files.workbook import Sheet, write_workbook
from mixsearch.errors import SearchError

DAY = datetime.date(2024, 2, 29)
NOON = datetime.datetime(2024, 2, 29, 12, 30)
HOSTILE = ["=1+1", "+1", "-1", "@SUM(A1)", '=HYPERLINK("http://evil")', "=cmd|' /C calc'!A0"]


def write(path, *sheets):
    write_workbook(path, sheets)
    return openpyxl.load_workbook(path)


def test_values_keep_their_types(tmp_path):
    in_rome = NOON.replace(tzinfo=datetime.timezone(datetime.timedelta(hours=1)))
    values = [
        "text",
        3,
        2.5,
        True,
        None,
        DAY,
        NOON,
        in_rome,
        np.int64(4),
        np.float64(0.5),
        float("nan"),
        2**60,
        [1, {"a": None}],
    ]
    book = write(tmp_path / "a.xlsx", Sheet("Values", [f"c{i}" for i in range(len(values))], [values]))
    found = [cell.value for cell in book["Values"][2]]
    midnight = datetime.datetime(2024, 2, 29)
    assert found[:5] == ["text", 3, 2.5, True, None]
    assert found[5:8] == [midnight, NOON, datetime.datetime(2024, 2, 29, 11, 30)]
    assert found[8:] == [4, 0.5, None, str(2**60), '[1, {"a": null}]']
    assert book["Values"][1][0].font.bold
    assert book["Values"].freeze_panes == "A2"


def test_no_text_is_a_formula(tmp_path):
    book = write(tmp_path / "a.xlsx", Sheet("A", HOSTILE[:1], [[text] for text in HOSTILE]))
    cells = [row[0] for row in book["A"].iter_rows()]
    assert [cell.value for cell in cells] == [HOSTILE[0], *HOSTILE]
    assert {cell.data_type for cell in cells} == {"s"}
    assert pd.read_excel(tmp_path / "a.xlsx").iloc[:, 0].tolist() == HOSTILE


def test_text_that_no_cell_can_hold_is_changed(tmp_path):
    texts = ["a\x00b\x1b", "x" * 40_000, "\ud800", "two\nlines\tof 😀"]
    book = write(tmp_path / "a.xlsx", Sheet("A", (), [[text] for text in texts]))
    found = [row[0].value for row in book["A"].iter_rows()]
    assert found[0] == "a\ufffdb\ufffd"
    assert len(found[1]) == 32_767
    assert found[1].endswith("x…")
    assert found[2:] == ["\ufffd", texts[3]]


def test_titles_are_legal_and_differ(tmp_path):
    titles = ["a/b[c]:*?", "A B C", "x" * 40, "x" * 50, "", "'quoted'"]
    book = write(tmp_path / "a.xlsx", *(Sheet(title, ["h"], [[title]]) for title in titles))
    assert book.sheetnames[:2] == ["a b c", "A B C (2)"]
    assert len({name.lower() for name in book.sheetnames}) == len(titles)
    assert all(0 < len(name) <= 31 for name in book.sheetnames)


def test_formats_and_widths_are_set(tmp_path):
    book = write(tmp_path / "a.xlsx", Sheet("A", ["n", "share"], [[1, 0.25]], formats=[None, "0.0%"], widths=[5, 200]))
    assert book["A"]["B2"].number_format == "0.0%"
    assert book["A"]["B1"].number_format == "General"
    assert [book["A"].column_dimensions[letter].width for letter in "AB"] == [5, 90]


def test_more_rows_than_excel_has_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(workbook, "MAX_ROWS", 3)
    with pytest.raises(SearchError, match="more than 3 rows, the limit of Excel. Write .parquet or .csv.") as caught:
        write(tmp_path / "a.xlsx", Sheet("A", ["h"], [[1], [2], [3]]))
    assert caught.value.code == "too_many_rows"


def test_without_openpyxl_the_extra_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(SearchError, match=r"pip install 'mixsearch\[cli\]'"):
        write_workbook(tmp_path / "a.xlsx", [])
