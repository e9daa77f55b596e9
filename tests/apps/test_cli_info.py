"""`mixsearch info` and `mixsearch overview`."""

import json

import pytest
from tests.apps.cli import invoke
from tests.served_corpus import SUBJECTS, make_index

from mixsearch import __version__
from mixsearch.topics import list_topics, open_index


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    return make_index(tmp_path_factory.mktemp("info"))


def test_the_contents_of_an_index_are_one_line_per_fact(index):
    result = invoke("info", index)
    assert result.exit_code == 0, result.output
    facts = {line.partition("  ")[0]: line.partition("  ")[2].strip() for line in result.stdout.splitlines()}
    assert facts["documents"] == "240"
    assert __version__ in facts["created"]
    assert facts["columns"] == "id (id)"
    assert "\x1b" not in result.output


def test_json_has_every_number(index):
    printed, opened = json.loads(invoke("info", index, "--verify", "--json").stdout), open_index(index)
    assert (printed["n_documents"], printed["n_components"]) == (opened.n_documents, opened.n_components)
    assert all(opened.document_frequency(word["word"]) == word["n_documents"] for word in printed["starters"])
    assert printed["verified"] is True


def test_a_changed_byte_is_reported(tmp_path):
    path = make_index(tmp_path)
    largest = max(path.rglob("*.npy"), key=lambda file: file.stat().st_size)
    data = bytearray(largest.read_bytes())
    data[-1] ^= 1
    largest.write_bytes(data)
    result = invoke("info", path, "--verify", "--json")
    assert result.exit_code == 1
    error = json.loads(result.stdout)["error"]
    assert (error["code"], error["fields"]["path"]) == ("folder_damaged", str(largest))
    assert "--overwrite" in error["message"]


def test_every_topic_has_a_line_with_its_documents_hints_and_words(index):
    result = invoke("overview", index, COLUMNS="300")
    assert result.exit_code == 0, result.output
    _, *lines = result.stdout.splitlines()
    topics = list_topics(open_index(index), 30)
    assert len(lines) == len(topics)
    for line, topic in zip(lines, topics, strict=True):
        assert ", ".join(topic.words) in line
        assert topic.hints[0] in line


def test_json_of_an_overview_has_the_largest_topics_first(index):
    topics = json.loads(invoke("overview", index, "--n", 12, "--json").stdout)
    assert {*topics[0]} == {"hints", "words", "n_members", "match"}
    members = [topic["n_members"] for topic in topics]
    assert members == sorted(members, reverse=True)
    subjects = [
        {subject for subject, words in SUBJECTS.items() if set(words) & set(topic["words"])} for topic in topics
    ]
    assert set().union(*subjects) == set(SUBJECTS)
