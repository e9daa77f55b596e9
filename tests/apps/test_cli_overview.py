"""`mixsearch overview`."""

import json

import pytest
from tests.apps.cli_corpus import invoke
from tests.served_corpus import SUBJECTS, make_index

from mixsearch.topics import list_topics, open_index


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    return make_index(tmp_path_factory.mktemp("overview"))


def test_every_topic_has_a_line_with_its_documents_hints_and_words(index):
    result = invoke("overview", index, COLUMNS="300")
    assert result.exit_code == 0, result.output
    _, *lines = result.stdout.splitlines()
    topics = list_topics(open_index(index), 30)
    assert len(lines) == len(topics)
    for line, topic in zip(lines, topics, strict=True):
        assert ", ".join(topic.words) in line
        assert topic.hints[0] in line


def test_json_has_the_largest_topics_first(index):
    topics = json.loads(invoke("overview", index, "--n", 12, "--json").stdout)
    assert {*topics[0]} == {"hints", "words", "n_members", "match"}
    members = [topic["n_members"] for topic in topics]
    assert members == sorted(members, reverse=True)
    subjects = [
        {subject for subject, words in SUBJECTS.items() if set(words) & set(topic["words"])} for topic in topics
    ]
    assert set().union(*subjects) == set(SUBJECTS)
