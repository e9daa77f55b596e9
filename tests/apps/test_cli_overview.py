"""`mixsearch overview` lists the topics of an index, in every output format."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from tests.apps.cli_corpus import ALL_WORDS, Files, invoke, make_files


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    return make_files(tmp_path_factory.mktemp("overview"))


@pytest.fixture(scope="module")
def index(files: Files) -> Path:
    path = files.folder / "reviews.index"
    assert invoke("index", files.jsonl, "-o", path, *ALL_WORDS).exit_code == 0
    return path


def test_every_topic_has_a_line_with_its_share_and_words(files: Files, index: Path) -> None:
    result = invoke("overview", index, *files.words)
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert len(lines) == len(files.words)
    shares = [float(line.split("%")[0]) for line in lines]
    assert shares == sorted(shares, reverse=True)
    assert {word for word in files.words if any(word in line for line in lines)} == set(files.words)


def test_a_table_has_the_same_topics(files: Files, index: Path) -> None:
    printed = json.loads(invoke("overview", index, *files.words, "--json").stdout)
    assert set(printed) == {"topics", "skipped", "n_documents"}
    rows = list(csv.DictReader(io.StringIO(invoke("overview", index, *files.words, "--csv").stdout)))
    assert [row["words"] for row in rows] == [" ".join(topic["words"]) for topic in printed["topics"]]
    assert [float(row["weight"]) for row in rows] == pytest.approx([topic["weight"] for topic in printed["topics"]])


def test_a_word_without_a_topic_is_a_note(files: Files, index: Path) -> None:
    result = invoke("overview", index, files.words[0], "zzyzx")
    assert result.exit_code == 0
    assert len(result.stdout.splitlines()) == 1
    (skipped,) = json.loads(invoke("overview", index, files.words[0], "zzyzx", "--json").stdout)["skipped"]
    assert (skipped["word"], skipped["code"]) == ("zzyzx", "unknown_word")
    assert result.stderr == f"Note: {skipped['message']}\n"


def test_an_index_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    result = invoke("overview", tmp_path / "nowhere.index", "--json")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["error"]["code"] == "folder_missing"
    assert invoke("overview", tmp_path, "--json", "--csv").exit_code == 2
