"""Excel workbooks: typed cells, no formulas, within Excel's limits."""

import datetime
import sys

import numpy as np
import openpyxl
import pandas as pd
from tests.coded import raises

from mixsearch.io.workbook import Sheet, write_workbook

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
