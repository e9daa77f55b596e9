"""An unexpected error of a command is one sentence with a code; the traceback is in a file that it names."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.apps.cli import invoke
from tests.every_word import every_word

from mixsearch.topics import IndexOptions, build_index


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    path = tmp_path_factory.mktemp("unexpected") / "food.index"
    foods = ("sushi rice fish tuna wasabi ★", "pizza cheese oven crust basil ★")
    texts = [f"{foods[i % 2]} {foods[i % 2].split()[i % 5]} guest{i % 9}" for i in range(60)]
    build_index(texts, path, IndexOptions(n_components=2), every_word())
    return path


def fail(monkeypatch, error):
    def raise_error(*_args, **_options):
        raise error

    monkeypatch.setattr("mixsearch.topics.index.open_index", raise_error)


def test_a_bug_is_a_sentence_that_names_the_file_with_the_traceback(index, monkeypatch):
    fail(monkeypatch, ZeroDivisionError("a {brace} and\na line"))
    result = invoke("topic", index, "fish")
    assert result.exit_code == 1
    assert "ZeroDivisionError: a {brace} and a line" in result.stderr
    assert "Traceback" not in result.output
    details = Path(re.search(r"details are in '(.+?)'", result.stderr)[1])
    assert "Traceback" in details.read_text(encoding="utf-8")
    assert details.stat().st_mode & 0o077 == 0 or os.name == "nt"
    details.unlink()


def test_with_json_it_has_a_code(index, monkeypatch, tmp_path):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    fail(monkeypatch, KeyError("x"))
    result = invoke("topic", index, "fish", "--json")
    shown = json.loads(result.stdout)["error"]
    assert shown["code"] == "internal"
    assert shown["fields"]["kind"] == "KeyError"


def test_too_little_memory_and_errors_of_the_system_are_no_bugs(index, monkeypatch):
    fail(monkeypatch, MemoryError())
    assert json.loads(invoke("topic", index, "fish", "--json").stdout)["error"]["code"] == "out_of_memory"
    fail(monkeypatch, PermissionError(13, "Permission denied", "x.txt"))
    error = json.loads(invoke("topic", index, "fish", "--json").stdout)["error"]
    assert (error["code"], error["fields"]["path"]) == ("permission_denied", "x.txt")


def run(*arguments, **options):
    command = [sys.executable, "-m", "mixsearch", *map(str, arguments)]
    return subprocess.run(command, stderr=subprocess.PIPE, check=False, timeout=120, **options)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="Linux has a disk that is always full")
@pytest.mark.parametrize("arguments", [("--help",), ("topic", "INDEX", "fish", "--json")])
def test_output_to_a_full_disk_is_a_sentence(index, arguments):
    with open("/dev/full", "wb") as full:
        done = run(*[index if each == "INDEX" else each for each in arguments], stdout=full)
    assert done.returncode == 1
    assert done.stderr.decode().strip().startswith("Could not write to 'the output': the disk is full.")


@pytest.mark.skipif(os.name == "nt", reason="pipes of Windows fail otherwise")
def test_a_closed_pipe_is_silent(index):
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as closed:
        done = run("topic", index, "fish", stdout=closed)
    assert done.returncode == 1
    assert done.stderr == b""


def test_a_terminal_without_a_character_shows_another_and_json_keeps_it(index):
    environment = os.environ | {"PYTHONIOENCODING": "cp1252"}
    shown = run("topic", index, "fish", stdout=subprocess.PIPE, env=environment)
    assert shown.returncode == 0
    assert b"wasabi ?" in shown.stdout
    as_json = run("topic", index, "fish", "--json", stdout=subprocess.PIPE, env=environment)
    snippets = [document["snippet"] for document in json.loads(as_json.stdout.decode("cp1252"))["documents"]]
    assert any("★" in snippet for snippet in snippets)
