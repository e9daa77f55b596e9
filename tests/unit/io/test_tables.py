import gzip
import json
from datetime import date, datetime, timedelta, timezone

import openpyxl
import pandas as pd
import polars as pl
import pytest
from tests.coded import raises

from mixsearch.io import workbook
from mixsearch.io.types import MISSING_MARKS
from mixsearch.table import read_table, write_table

CSV = """name,area,rooms,garden,built,seen
"Via, Roma",50.5,2,true,2020-03-01,2024-01-01 10:30:00
Ås,70,3,false,2021-04-02,2024-01-02 11:00:00
?,NA,NaN,,null,
"""
ROWS = {
    "name": ["Via, Roma", "Ås", None],
    "area": [50.5, 70.0, None],
    "rooms": [2, 3, None],
    "garden": [True, False, None],
    "built": [date(2020, 3, 1), date(2021, 4, 2), None],
    "seen": [datetime(2024, 1, 1, 10, 30), datetime(2024, 1, 2, 11), None],
}


def write(path, data):
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


def fail_after_one():
    yield pl.DataFrame({"a": [1]})
    raise ValueError("stop")


def read_text(tmp_path, text, name="a.csv"):
    return read_table(write(tmp_path / name, text))


@pytest.mark.parametrize(
    ("name", "compress"),
    [("a.csv", bytes), ("A.CSV.GZ", gzip.compress)],
)
def test_types_and_missing_values_of_csv_are_found(tmp_path, name, compress):
    assert read_table(write(tmp_path / name, compress(CSV.encode()))).to_dict(as_series=False) == ROWS


@pytest.mark.parametrize("delimiter", [";", "\t"])
def test_the_delimiter_is_found_in_the_header(tmp_path, delimiter):
    text = f"a{delimiter}b\n1{delimiter}x,y\n2{delimiter}z\n"
    assert read_text(tmp_path, text).to_dict(as_series=False) == {"a": [1, 2], "b": ["x,y", "z"]}


def test_every_missing_mark_is_missing(tmp_path):
    text = "a,b\n" + "".join(f"{mark},1\n" for mark in MISSING_MARKS) + "7,1\n"
    assert read_text(tmp_path, text)["a"].to_list() == [None] * len(MISSING_MARKS) + [7]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["12/31/2020", "1/2/2021"], [date(2020, 12, 31), date(2021, 1, 2)]),
        (["31/12/2020", "1/2/2021"], [date(2020, 12, 31), date(2021, 2, 1)]),
        (["01/02/2021", "03/04/2021"], ["01/02/2021", "03/04/2021"]),  # either order
        (["31.12.2020", "01.02.2021"], [date(2020, 12, 31), date(2021, 2, 1)]),
    ],
)
def test_dates_are_found_if_their_order_is_certain(tmp_path, values, expected):
    assert read_text(tmp_path, "a,b\n" + "".join(f"{value},1\n" for value in values))["a"].to_list() == expected


def test_json_lines_have_types(tmp_path):
    lines = [
        {"a": 1, "b": "2020-01-02", "c": True, "d": "2020-01-02T10:00:00.5Z"},
        {"a": 2.5, "b": None, "e": "x", "d": "2020-01-03T10:00:00Z"},
    ]
    data = "\n".join(map(json.dumps, lines)).encode()
    utc = timezone.utc  # noqa: UP017
    for path in (write(tmp_path / "a.jsonl", data), write(tmp_path / "a.jsonl.gz", gzip.compress(data))):
        assert read_table(path).to_dict(as_series=False) == {
            "a": [1, 2.5],
            "b": [date(2020, 1, 2), None],
            "c": [True, None],
            "d": [datetime(2020, 1, 2, 10, microsecond=500_000, tzinfo=utc), datetime(2020, 1, 3, 10, tzinfo=utc)],
            "e": [None, "x"],
        }


@pytest.mark.parametrize(
    ("name", "data", "code"),
    [
        ("a.csv", b"", "empty_file"),
        ("a.csv", b"a,b\n", "no_rows"),
        ("a.csv", b"a,b\n1,2\n3\n", "wrong_row_length"),
        ("a.csv", b'a,b\n1,2\n"x,2\n', "invalid_csv"),
        ("a.csv", b"a,b\ncaf\xe9,2\n", "wrong_encoding"),
        ("a.csv", "a,b\n1,2\n".encode("utf-16"), "binary_file"),
        (
            "a.jsonl",
            b'{"a": "a b c d e f g"}\n{"a": "a b \xff\xfec d e f g"}\n',
            "wrong_encoding",
        ),
        ("a.csv.gz", gzip.compress(CSV.encode() * 99, mtime=0)[:-40], "unreadable_file"),
        ("a.parquet", b"PAR1\x00\x00", "unreadable_file"),
        ("a.jsonl", b'{"a": 1}\n{"a":\n', "invalid_json"),
        ("a.json", b"[1, 2]", "invalid_record"),
        ("a.xlsx", b"x", "unreadable_file"),
        ("a", b"x", "unknown_format"),
    ],
)
def test_files_that_cannot_be_read_say_why(tmp_path, name, data, code):
    path = write(tmp_path / name, data)
    with raises(code, file=str(path)):
        read_table(path)


@pytest.mark.parametrize("name", ["a.tsv", "a.csv.gz", "a.parquet", "a.jsonl.zst", "a.json"])
def test_what_is_written_is_read_again(tmp_path, name):
    write_table(ROWS, tmp_path / name)
    assert [each.name for each in tmp_path.iterdir()] == [name]
    found = read_table(tmp_path / name).to_dict(as_series=False)
    # JSON has no dates: they come back as times.
    found["built"] = [each.date() if isinstance(each, datetime) else each for each in found["built"]]
    assert found == ROWS


def test_frames_categories_and_nested_values_are_written(tmp_path):
    frame = pd.DataFrame({"c": pd.Categorical(["x", "y"]), "n": [[1, 2], None], "f": [1.5, float("inf")]})
    write_table(frame, tmp_path / "a.csv")
    assert read_table(tmp_path / "a.csv").to_dict(as_series=False) == {
        "c": ["x", "y"],
        "n": ["[1, 2]", None],
        "f": [1.5, float("inf")],
    }
    write_table(frame, tmp_path / "a.json")
    assert json.loads((tmp_path / "a.json").read_text())[1] == {"c": "y", "n": None, "f": None}


def test_a_table_that_cannot_be_written_leaves_the_old_file(tmp_path):
    path = write(tmp_path / "a.csv", "old")
    with pytest.raises(ValueError, match="stop"):
        write_table(fail_after_one(), path)
    assert path.read_text() == "old"
    with raises("disk_failed", action="write to"):
        write_table(ROWS, tmp_path / "nowhere" / "a.csv")
    with raises("unknown_format"):
        write_table(ROWS, tmp_path / "a.docx")


DAY = date(2024, 2, 29)
NOON = datetime(2024, 2, 29, 12, 30)
ROME = NOON.replace(tzinfo=timezone(timedelta(hours=1)))
HOSTILE = ["=1+1", "+1", "-1", "@SUM(A1)", '=HYPERLINK("http://evil")', "=cmd|' /C calc'!A0"]


def write_sheet(path, columns):
    write_table(columns, path)
    page = openpyxl.load_workbook(path)["Table"]
    return page, [[cell.value for cell in row] for row in page.iter_rows()]


def test_values_keep_their_types(tmp_path):
    values = {"text": "x", "n": 3, "x": 2.5, "yes": True, "day": DAY, "noon": NOON, "rome": ROME, "large": 2**60}
    columns = {name: [value, None] for name, value in values.items()} | {"not finite": [float("inf"), float("nan")]}
    page, rows = write_sheet(tmp_path / "a.xlsx", {**columns, "list": [[1, {"a": None}], None]})
    midnight, utc = datetime(2024, 2, 29), datetime(2024, 2, 29, 11, 30)
    assert rows[1] == ["x", 3, 2.5, True, midnight, NOON, utc, str(2**60), None, '[1, {"a": null}]']
    assert set(rows[2]) == {None}
    assert page["A1"].font.bold
    assert page.freeze_panes == "A2"


def test_no_text_is_a_formula(tmp_path):
    page, rows = write_sheet(tmp_path / "a.xlsx", {HOSTILE[0]: HOSTILE})
    assert [row[0] for row in rows] == [HOSTILE[0], *HOSTILE]
    assert {row[0].data_type for row in page.iter_rows()} == {"s"}
    assert read_table(tmp_path / "a.xlsx").to_series().to_list() == HOSTILE


def test_limits_of_excel_are_kept(tmp_path, monkeypatch):
    _, rows = write_sheet(tmp_path / "a.xlsx", {"text": ["x" * 40_000, "two\nlines\tof \U0001f600"]})
    assert [len(row[0]) for row in rows[1:]] == [32_767, 14]
    monkeypatch.setattr(workbook, "MAX_ROWS", 1)
    with raises("too_many_rows", n_rows=1):
        write_table({"x": [1, 2]}, tmp_path / "b.xlsx")
    assert not (tmp_path / "b.xlsx").exists()


@pytest.mark.parametrize("title", ["a[1]: b/c?", "x" * 40])
def test_titles_are_changed_as_needed(tmp_path, title):
    workbook.write_workbook(tmp_path / "a.xlsx", [(title, pl.DataFrame({"x": [1]}))])
    assert len(openpyxl.load_workbook(tmp_path / "a.xlsx").sheetnames[0]) <= 31
