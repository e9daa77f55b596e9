"""Bad rows and missing headers, in texts and in tables."""

import pytest
from tests.coded import raises
from tests.every_word import every_word

from mixsearch.errors import collect_warnings
from mixsearch.table import read_table
from mixsearch.text import read_corpus

CSV = 'review,stars\nGood sushi,5\nBad, cold ramen,1\nHot tea,4\n"open,2\n'
JSONL = '{"review": "Good sushi", "stars": 5}\n{"review": \n[1]\n\n{"review": "Hot tea", "stars": 4}\n'


def read_texts(source, **options):
    with read_corpus(source, every_word(**{"text": "review", **options})) as corpus:
        return [text for chunk in corpus.chunks() for text in chunk.texts], corpus.notes


def read_rows(source, **options):
    with collect_warnings() as warnings:
        return read_table(source, **options).to_dict(as_series=False), warnings


def write(path, content):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize("memory", [1, 1_000_000])
def test_bad_rows_of_csv_are_skipped_counted_and_named(tmp_path, memory):
    texts, (note,) = read_texts(write(tmp_path / "a.csv", CSV), skip_bad_rows=True, memory=memory)
    assert texts == ["Good sushi", "Hot tea"]
    assert (note.code, note.fields["n_rows"]) == ("skipped_rows", 2)
    assert note.fields["first_rows"] == [
        {"file": f"{tmp_path}/a.csv", "line": 3, "reason": "wrong_row_length"},
        {"file": f"{tmp_path}/a.csv", "line": 5, "reason": "invalid_csv"},
    ]


def test_bad_rows_of_json_lines_are_skipped_counted_and_named(tmp_path):
    path = write(tmp_path / "a.jsonl", JSONL)
    texts, (note,) = read_texts(path, skip_bad_rows=True)
    assert texts == ["Good sushi", "Hot tea"]
    assert (note.code, note.fields["n_rows"]) == ("skipped_rows", 2)
    assert note.fields["first_rows"] == [
        {"file": str(path), "line": 2, "reason": "invalid_json"},
        {"file": str(path), "line": 3, "reason": "invalid_record"},
    ]
    rows, (warning,) = read_rows(path, skip_bad_rows=True)
    assert rows == {"review": ["Good sushi", "Hot tea"], "stars": [5, 4]}
    assert (warning.code, warning.fields) == (note.code, note.fields)


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "a.txt"])
def test_lines_in_another_encoding_are_bad_rows(tmp_path, name):
    lines = {
        "a.csv": ["review,stars", "Good sushi,5", "caf\u00e9,1", "Hot tea,4"],
        "a.jsonl": ['{"review": "Good sushi"}', '{"review": "caf\u00e9"}', '{"review": "Hot tea"}'],
        "a.txt": ["Good sushi", "caf\u00e9", "Hot tea"],
    }[name]
    path = write(tmp_path / name, "\n".join(lines).encode("latin-1"))
    options = {"text": None if name == "a.txt" else "review"}
    texts, notes = read_texts(path, skip_bad_rows=True, **options)
    assert texts == ["Good sushi", "Hot tea"]
    bad_row = {"file": str(path), "line": len(lines) - 1, "reason": "wrong_encoding"}
    assert (notes[-1].code, notes[-1].fields["first_rows"]) == ("skipped_rows", [bad_row])
    with raises("wrong_encoding", skip_argument="skip_bad_rows"):
        read_texts(path, **options)


def test_bad_rows_of_a_table_are_skipped_counted_and_named(tmp_path):
    path = write(tmp_path / "a.csv", "a,b\n1,2\n3\n4,5,6\n7,8\n")
    rows, (warning,) = read_rows(path, skip_bad_rows=True)
    assert rows == {"a": [1, 7], "b": [2, 8]}
    assert (warning.code, warning.fields["n_rows"]) == ("skipped_rows", 2)
    assert [bad_row["line"] for bad_row in warning.fields["first_rows"]] == [3, 4]
    with raises("wrong_row_length", line=3, n_values=1, n_columns=2, skip_argument="skip_bad_rows"):
        read_table(path)


def test_blank_lines_are_skipped_and_rows_without_values_are_rows(tmp_path):
    for text, expected in (
        ("a,b\n1,2\n\n3,\n\n\n", [(1, 2), (3, None)]),
        ("a,b\n1,2\n,\n3,\n", [(1, 2), (None, None), (3, None)]),
        ("a,b\n\n1,2\n,\n3,\n\n", [(1, 2), (None, None), (3, None)]),
    ):
        assert read_table(write(tmp_path / "a.csv", text)).rows() == expected


def test_a_table_without_a_header_is_read(tmp_path):
    path = write(tmp_path / "a.csv", "5,Good sushi\n1,Bad ramen\n4,Hot tea\n")
    rows, warnings = read_rows(path, no_header=True)
    assert (rows, warnings) == ({"column 1": [5, 1, 4], "column 2": ["Good sushi", "Bad ramen", "Hot tea"]}, [])
