"""One quantity, one definition: on real text, all views of an answer agree to the last digit."""

import json
import os
from pathlib import Path

import numpy as np
import pytest

from mixsearch.report import encode_membership
from mixsearch.text.options import CorpusOptions
from mixsearch.topics.answers import describe_topic, frame_documents
from mixsearch.topics.build import IndexOptions, build_index
from mixsearch.topics.index import open_index

TEXTS = Path(os.environ.get("MIXSEARCH_DATA", "missing")) / "text"
# The column of texts, that of groups, a filter, and hints.
CORPORA = {
    "bbc": (
        "text",
        "label",
        'label = "sport"',
        ["film", "rugby", "election -labour", '"prime minister"', "econom*", "goal"],
    ),
    "stackoverflow_16k": (
        "text",
        "label",
        'label = "3"',
        ["css", "file upload", "regex", "linq", "null pointer", "bash", "scala"],
    ),
    "yelp_10k": (
        "text",
        "stars",
        "stars <= 2",
        ["sushi", "dentist", "happy hour", "hotel room", "dog", "rude staff", "oil change"],
    ),
}

pytestmark = [
    pytest.mark.filterwarnings("ignore::mixsearch.errors.SearchWarning"),
    pytest.mark.skipif(not TEXTS.is_dir(), reason="MIXSEARCH_DATA names no folder with text/"),
]


@pytest.fixture(scope="module", params=CORPORA)
def corpus(request, tmp_path_factory):
    text, column, where, hints = CORPORA[request.param]
    reading = CorpusOptions(text=text)
    path = tmp_path_factory.mktemp(request.param) / "texts.index"
    build_index(TEXTS / f"{request.param}.jsonl.gz", path, IndexOptions(n_components=30), reading)
    return open_index(path), column, where, hints


@pytest.mark.parametrize("is_filtered", [False, True])
def test_all_views_of_an_answer_have_one_number_of_members(corpus, is_filtered):
    index, column, where, hints = corpus
    where = where if is_filtered else None
    for hint in hints:
        topic = index.search(hint, where=where)
        written = json.loads(json.dumps(describe_topic(index, topic), allow_nan=False))
        if written["n_members"] is not None:
            table = frame_documents(index, {"membership": topic}, is_sorted=True)
            order = np.argsort(index.corpus.find_rows(table["row"].to_list()))
            listed = np.zeros(index.n_documents)
            listed[np.sort(index.corpus.find_rows(table["row"].to_list()))] = table["membership"].to_numpy()[order]
            assert written["n_members"] == topic.n_members == listed.sum()
            assert written["share"] == topic.n_members / topic.n_documents == topic.n_members / len(table)
            best = written["documents"][0]
            assert best["membership"] == table["membership"][0]
        groups = index.group({hint: topic}, by=column, where=where)
        grouped = groups.topics[0]
        assert grouped.n_members == topic.member_weights.sum()
        assert np.isclose(sum(group.n_members for group in grouped.groups), grouped.n_members, rtol=1e-12)
        assert sum(group.n_documents for group in grouped.groups) == topic.n_documents - groups.n_missing
        assert sum(group.n_containing for group in grouped.groups) == written["n_containing"]
        bits = np.frombuffer(encode_membership(topic), np.uint8)
        on_map = np.unpackbits(bits, count=index.n_documents, bitorder="little")
        assert np.array_equal(on_map, topic.member_weights >= 0.5)
