import gzip
import io
import sys
from types import SimpleNamespace

import pytest
from tests.coded import raises
from tests.every_word import every_word

from mixsearch.text import read_corpus


def read(source, **options):
    with read_corpus(source, every_word(**options)) as corpus:
        chunks = list(corpus.chunks())
        names = None if chunks[0].names is None else [name for chunk in chunks for name in chunk.names]
        return SimpleNamespace(
            words=corpus.vocabulary,
            texts=[text for chunk in chunks for text in chunk.texts],
            names=names,
            notes=[note.as_dict() for note in corpus.notes],
        )


def write(path, text):
    path.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8"))
    return path


def test_windows_line_ends_and_byte_order_marks_are_no_part_of_the_texts(tmp_path):
    for name, content in (("a.jsonl", '{"id": 0, "review": "Good sushi"}\n'), ("a.csv", "id,review\n0,Good sushi\n")):
        found = read(write(tmp_path / name, b"\xef\xbb\xbf" + content.replace("\n", "\r\n").encode()), text="review")
        assert found.texts[0] == "Good sushi"
    assert read(write(tmp_path / "a.txt", b"\xef\xbb\xbfgood\r\n\r\nsushi")).texts == ["good", "", "sushi"]


def test_folders_patterns_and_lists_of_text_files_are_documents_named_by_their_paths(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / ".hidden").mkdir()
    write(tmp_path / "b.txt", "good sushi")
    write(tmp_path / "sub" / "a", "ramen\r\ntea")
    write(tmp_path / ".hidden" / "c.txt", "secret")
    found = read(tmp_path)
    assert (found.names, found.texts) == (["b.txt", "sub/a"], ["good sushi", "ramen\ntea"])
    assert read(f"{tmp_path}/*.txt").texts == ["good sushi"]
    assert read([tmp_path / "sub" / "a", tmp_path / "b.txt"]).texts == ["ramen\ntea", "good sushi"]


TABLE = 'id,note,text\n1,fresh,good sushi\n2,cold,"ramen, tea"\n'


@pytest.mark.parametrize(
    ("content", "options", "texts"),
    [
        ('\n {"text": "good sushi"}\n', {}, ["good sushi"]),
        ('[{"text": "good sushi"}]', {}, ["good sushi"]),
        ("good sushi, ramen\ntext, tea\n", {}, ["good sushi, ramen", "text, tea"]),
        (TABLE, {}, ["good sushi", "ramen, tea"]),
        ("id;text\n1;good sushi\n", {"id": "id"}, ["good sushi"]),
        (TABLE, {"text": "note"}, ["fresh", "cold"]),
    ],
)
def test_standard_input_is_recognized_as_json_csv_or_lines(monkeypatch, content, options, texts):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(content.encode()))))
    assert read("-", **{"keep": None, **options}).texts == texts


def test_the_only_column_of_strings_or_the_usual_name_is_the_text_and_it_says_so(tmp_path):
    only = read(write(tmp_path / "a.csv", "stars,opinion\n3,good sushi\n"))
    assert only.notes[0]["code"] == "text_column_guessed"
    assert only.notes[0]["fields"]["column"] == "opinion"
    usual = read(write(tmp_path / "b.jsonl", '{"title": "a b", "Body": "good sushi"}\n'))
    assert usual.notes[0]["fields"]["column"] == "Body"
    assert usual.words == ["good", "sushi"]


@pytest.mark.parametrize(
    ("name", "content", "options", "code", "fields"),
    [
        ("a.jsonl", '{"text": "a"}\n{"text": \n', {}, "invalid_json", {"line": 2}),
        ("a.jsonl", "[1, 2]\n", {}, "invalid_record", {"line": 1, "text": "[1, 2]"}),
        ("a.jsonl", b'{"text": "a"}\n\n{"text": "\xff"}\n', {}, "wrong_encoding", {"line": 3, "byte": 255}),
        ("a.jsonl", '{"revew": "a", "n": 1}\n', {"text": "review"}, "column_missing", {"suggestion": "revew"}),
        ("a.jsonl", '{"a": "x", "b": "y"}\n', {}, "unclear_text_column", {"argument": "text", "columns": "a, b"}),
        ("a.jsonl.gz", gzip.compress(b"{}\n" * 99, mtime=0)[:-9], {}, "unreadable_file", {"format": "text"}),
        ("a.parquet", b"no parquet", {}, "unreadable_file", {"format": "parquet"}),
    ],
)
def test_what_cannot_be_read_is_an_error_with_file_and_line(tmp_path, name, content, options, code, fields):
    path = write(tmp_path / name, content)
    with raises(code, file=str(path), **fields):
        read(path, **options)


@pytest.mark.parametrize(
    ("name", "content", "options", "code", "fields"),
    [
        ("a.jsonl", "\n \n", {}, "no_documents", {}),
        ("a.txt", "hello\n", {"text": "x"}, "no_columns", {"argument": "text", "value": "x"}),
    ],
)
def test_a_source_without_documents_or_columns_is_an_error(tmp_path, name, content, options, code, fields):
    path = write(tmp_path / name, content)
    with raises(code, source=str(path), **fields):
        read(path, **options)


def test_missing_files_show_what_is_there(tmp_path):
    write(tmp_path / "reviews.jsonl", "")
    with raises("file_missing", entries="reviews.jsonl"):
        read(tmp_path / "revews.jsonl")
    with raises("no_files", argument="source"):
        read([])
    (tmp_path / "empty").mkdir()
    with raises("empty_folder"):
        read(tmp_path / "empty")


def test_progress_rises_to_the_size_of_the_files(tmp_path):
    path = write(tmp_path / "a.jsonl.gz", gzip.compress(b'{"text": "good sushi"}\n' * 20_000, mtime=0))
    seen = []
    with read_corpus(path, every_word(memory=1), on_progress=lambda done, total: seen.append((done, total))):
        pass
    assert len(seen) > 3
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    assert seen[-1] == (path.stat().st_size, path.stat().st_size)
