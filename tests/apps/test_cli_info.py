"""`mixsearch info`."""

import json
from pathlib import Path

import pytest
from mixsearch.index import open_index
from tests.apps.cli_corpus import N_DOCUMENTS, N_TOPICS, Files, invoke, make_files, make_index

from mixsearch import TopicSearch, __version__
from mixsearch.datasets import make_topics


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    return make_files(tmp_path_factory.mktemp("files"))


@pytest.fixture(scope="module")
def index(files: Files) -> Path:
    return make_index(files)


def test_what_an_index_holds_is_told_line_by_line(index: Path) -> None:
    result = invoke("info", index)
    assert result.exit_code == 0, result.output
    facts = {line[:12].strip(): line[12:] for line in result.stdout.splitlines()}
    assert facts["documents"].startswith(f"{N_DOCUMENTS} (left out: 0 too short")
    assert facts["topics"] == str(N_TOPICS)
    assert __version__ in facts["created"]
    assert facts["texts"].startswith("kept")
    assert "alpha0=0.01" in facts["options"]
    assert facts["spectrum"].startswith(f"{N_TOPICS} eigenvalues, from ")
    assert "\x1b" not in result.output


def test_json_has_every_number(index: Path) -> None:
    printed = json.loads(invoke("info", index, "--verify", "--json").stdout)
    opened = open_index(index)
    assert printed["n_documents"] == N_DOCUMENTS
    assert printed["n_nonzeros"] == opened.topics._family.chunks.collect().chunk.by_document.nnz
    assert printed["eigenvalues"] == [float(value) for value in opened.topics._family.frame.values]
    assert printed["n_bytes"] == sum(printed["bytes_of_parts"].values())
    assert printed["options"]["n_components"] == N_TOPICS
    assert printed["tokens"]["token_pattern"] is None
    assert {each["word"] for each in printed["distinctive_words"]} <= set(opened.vocabulary)
    assert printed["verified"] is True


def test_a_changed_byte_is_found(files: Files, tmp_path: Path) -> None:
    copy = Files(tmp_path, files.texts, files.words, files.likeliest)
    copy.jsonl.write_bytes(files.jsonl.read_bytes())
    path = make_index(copy)
    largest = max(path.rglob("*.npy"), key=lambda file: file.stat().st_size)
    data = bytearray(largest.read_bytes())
    data[-1] ^= 1
    largest.write_bytes(data)
    result = invoke("info", path, "--verify", "--json")
    assert result.exit_code == 1
    error = json.loads(result.stdout)["error"]
    assert (error["code"], error["fields"]["path"]) == ("folder_damaged", str(largest))
    assert "--overwrite" in error["message"]


def test_a_saved_search_is_an_index_without_texts(tmp_path: Path) -> None:
    data = make_topics(200, 30, 3, mean_length=30, random_state=0)
    TopicSearch(3).fit(data.counts).save(tmp_path / "search")
    printed = json.loads(invoke("info", tmp_path / "search", "--json").stdout)
    assert (printed["has_texts"], printed["tokens"], printed["distinctive_words"]) == (False, None, [])


def test_what_is_not_an_index_is_an_error(tmp_path: Path) -> None:
    result = invoke("info", tmp_path, "--json")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["error"]["code"] == "folder_missing"
