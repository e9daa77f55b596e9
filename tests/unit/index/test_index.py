"""An index built from files answers as a fit in memory does, whatever memory it was given."""

import json
import warnings
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from tests.closeness import assert_close
from tests.coded import raises
from tests.every_word import every_word

from mixsearch import TopicSearch
from mixsearch.core import rows as blocks
from mixsearch.errors import (
    DroppedDocumentsWarning,
    FewerComponentsWarning,
    UnknownWordError,
    WeakHintWarning,
)
from mixsearch.index import AnswerOptions, IndexOptions, Query, answer_queries, build_index, describe, open_index
from mixsearch.index.build import counts as written
from mixsearch.index.documents import Document
from mixsearch.io.folder import read_manifest
from mixsearch.text import count_texts

SUBJECTS = {
    "food": ["sushi", "rice", "ramen", "noodle", "soup", "fish", "tuna", "bowl", "chef", "plate"],
    "sport": ["goal", "match", "team", "ball", "league", "coach", "player", "score", "win", "cup"],
    "law": ["court", "judge", "law", "crime", "trial", "jury", "lawyer", "guilty", "appeal", "café"],
}
LANGUAGE = ["the", "and", "day", "good", "time"]
SHORT, REPEATED, REPEAT = 5, 4, 10


def draw_texts(n=300, seed=0):
    """Documents of 15 to 30 words on three subjects in turn; one is too short, one repeats another."""
    rng = np.random.default_rng(seed)
    texts = []
    for i in range(n):
        subject, length = list(SUBJECTS.values())[i % 3], rng.integers(15, 30)
        own, common = rng.choice(subject, length), rng.choice(LANGUAGE, length)
        texts.append(" ".join(np.where(rng.random(length) < 0.7, own, common)).capitalize())
    texts[SHORT], texts[REPEAT] = "Sushi", texts[REPEATED]
    return texts


TEXTS = draw_texts()
KEPT = [i for i in range(len(TEXTS)) if i not in (SHORT, REPEAT)]
ONCE = every_word(id="id", drop_duplicates=True)


def write_jsonl(folder, texts=TEXTS):
    """Two files, as `read_corpus` takes a list of them."""
    lines = [json.dumps({"id": f"d{i}", "text": text}) for i, text in enumerate(texts)]
    paths = [folder / "a.jsonl", folder / "b.jsonl"]
    for path, part in zip(paths, (lines[:120], lines[120:]), strict=True):
        path.write_text("\n".join(part) + "\n", encoding="utf-8")
    return paths


def in_memory(texts=TEXTS, **options):
    """The same corpus, fitted without a file."""
    with count_texts(texts, every_word()) as corpus, warnings.catch_warnings():
        warnings.simplefilter("ignore", DroppedDocumentsWarning)
        return TopicSearch(3, **options).fit(corpus.to_counts(), vocabulary=corpus.vocabulary)


@contextmanager
def weak_hints_allowed():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", WeakHintWarning)
        yield


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    folder = tmp_path_factory.mktemp("corpus")
    return build_index(write_jsonl(folder), folder / "index", IndexOptions(n_components=3), ONCE)


@pytest.fixture(scope="module")
def index(built):
    return open_index(built.path)


def assert_same_answers(index, fitted, row_of=None):
    rows = np.arange(len(TEXTS)) if row_of is None else row_of
    hints = [{"words": "sushi"}, {"words": {"judge": 1.0, "goal": -0.5}}, {"words": "c*"}, {"documents": [0, 3]}]
    for hint in hints:
        with weak_hints_allowed():
            one, other = index.search(**hint, n_components=3), fitted.search(**hint)
        assert_allclose(one.probabilities, other.probabilities, atol=1e-5)
        assert one.weight == pytest.approx(other.weight, abs=1e-5)
        assert [word for word, _ in one.top_words(8)] == [word for word, _ in other.top_words(8)]
        for (row, share), (wanted, truth) in zip(one.documents(5), other.documents(5), strict=True):
            assert (row, share) == (rows[wanted], pytest.approx(truth, abs=1e-5))


def test_an_index_answers_as_a_fit_in_memory(tmp_path):
    build_index(write_jsonl(tmp_path), tmp_path / "index", IndexOptions(n_components=3), every_word())
    assert_same_answers(open_index(tmp_path / "index"), in_memory())


@pytest.mark.parametrize("options", [{"damping": False, "alpha0": 0.5}, {"moments": "plugin"}, {"weights": "uniform"}])
def test_options_of_the_search_reach_the_index(options, tmp_path):
    build_index(write_jsonl(tmp_path), tmp_path / "index", IndexOptions(n_components=3, search=options), every_word())
    index = open_index(tmp_path / "index")
    assert {name: index.topics.get_params()[name] for name in options} == options
    assert_same_answers(index, in_memory(**options))


def checksums(path):
    return {name: stored.checksum for name, stored in read_manifest(path).files.items()}


def test_an_index_is_the_same_to_the_last_byte_in_any_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(blocks, "CHUNK_NONZEROS", 500)  # several chunks of rows
    source, read, pieces = write_jsonl(tmp_path), [], []
    from_disk, columns = written.open_rows, written.transpose_rows
    monkeypatch.setattr(written, "transpose_rows", lambda *args: (pieces.append(1) or part for part in columns(*args)))

    def counted(*args):
        rows = from_disk(*args)
        return replace(rows, read=lambda number: read.append(number) or rows.read(number))

    monkeypatch.setattr(written, "open_rows", counted)
    build_index(source, tmp_path / "roomy", IndexOptions(n_components=3))
    assert (len(read), len(pieces)) == (0, 1)
    build_index(source, tmp_path / "tight", IndexOptions(n_components=3, memory=20_000))
    assert len(set(read)) > 3
    assert len(pieces) > 3
    assert checksums(tmp_path / "roomy") == checksums(tmp_path / "tight")
    open_index(tmp_path / "tight").verify()


def test_rows_and_names_are_those_of_the_files_where_documents_were_left_out(index):
    assert index.documents([0, 11, 299]) == [Document(i, f"d{i}", TEXTS[i]) for i in (0, 11, 299)]
    assert_array_equal(index.topics.kept_rows_, KEPT)
    for subject, word in enumerate(["sushi", "goal", "judge"]):
        best = index.documents([row for row, _ in index.search(word).documents(20)])
        assert all(document.row % 3 == subject and document.text == TEXTS[document.row] for document in best)


def test_a_text_is_a_hint_that_says_what_its_counts_say(index):
    text = "The JUDGE asked the jury, and the Lawyer was guilty."
    words = dict.fromkeys(("the", "judge", "jury", "and", "lawyer", "guilty"), 1) | {"the": 3}
    counts = np.array([[words.get(word, 0) for word in index.vocabulary]])
    assert_array_equal(index.count([text]).toarray(), counts)
    by_text, by_counts = index.search(text=text), index.topics.search(documents=counts)
    assert_close(by_text.probabilities, by_counts.probabilities)
    assert {row % 3 for row, _ in by_text.documents(20)} == {2}


@pytest.mark.parametrize("typed", ["sushi-rice", "Sushi/Rice", "sushi rice", "(sushi) rice!"])
def test_a_question_is_split_as_the_texts_were(index, typed):
    with weak_hints_allowed():
        found, phrase = index.search(typed), index.search("sushi rice")
    assert index.spell(typed) == "sushi rice"
    assert found.top_words(5) == phrase.top_words(5)
    assert {SUBJECTS["food"].count(word) for word, _ in found.top_words(5)} == {1}


def test_phrases_of_a_question_and_of_a_text_are_those_of_the_index(tmp_path):
    path = tmp_path / "texts.txt"
    texts = [text.replace("fish", "fish market") for text in TEXTS]
    path.write_text("\n".join(texts) + "\n", encoding="utf-8")
    index = open_index(
        build_index(path, tmp_path / "index", IndexOptions(n_components=3), every_word(phrases=True)).path
    )
    assert "fish market" in index.vocabulary
    assert index.spell("Fish-Market") == "fish market"
    counts = index.count(["The fish market, and the fish."]).toarray()[0]
    columns = [index.vocabulary.index(word) for word in ("fish market", "fish", "market")]
    assert counts[columns].tolist() == [1, 2, 1]


def test_a_name_with_a_number_is_asked_for_as_such_if_the_texts_have_it(tmp_path):
    path = tmp_path / "texts.txt"
    # In few documents: a name may be too rare for a feature, as any word.
    numbers = [" GPT-4" if i % 2 else " gpt-3" if i < 8 else "" for i in range(len(TEXTS))]
    path.write_text("".join(f"{text}{end}\n" for text, end in zip(TEXTS, numbers, strict=True)), encoding="utf-8")
    reading = every_word(phrases=True, min_df=5)
    index = open_index(build_index(path, tmp_path / "index", IndexOptions(n_components=3), reading).path)
    asked = ["GPT-4", "gpt\N{NON-BREAKING HYPHEN}4", "GPT-3", "GPT-5", "gpt-4 sushi", "F-16"]
    assert list(map(index.spell, asked)) == ["gpt-4", "gpt-4", "gpt-3", "gpt", "gpt-4 sushi", "f-16"]
    assert index.document_frequency("GPT-4") == sum(TEXTS[i] != "" for i in range(1, len(TEXTS), 2))
    counts = index.count(["Sushi for GPT-4, but not for 4."]).toarray()[0]
    assert counts[[index.vocabulary.index(word) for word in ("gpt", "gpt-4")]].tolist() == [1, 1]


def test_a_phrase_whose_words_never_occur_together_is_refused(tmp_path):
    pairs = [("zero gravity orbit rocket", "day night morning lunch")[i % 2].split() for i in range(200)]
    texts = [" ".join((*pair, pair[i % 4], f"guest{i % 9}")) for i, pair in enumerate(pairs)]
    index = open_index(build_index(texts, tmp_path / "index", IndexOptions(n_components=3), every_word()).path)
    for typed in ("zero-day", "zero day"):
        with pytest.raises(UnknownWordError) as caught:
            index.search(typed)
        assert (caught.value.code, caught.value.word) == ("phrase_without_documents", "zero day")
    assert index.search({"zero-day": 1.0, "orbit": 1.0}).document_count.n_holding == 100
    with pytest.warns(WeakHintWarning):
        nothing_left = index.search({"zero": 1.0, **dict.fromkeys(("gravity", "orbit", "rocket"), -9.0)})
    assert (nothing_left.document_count.n_holding, nothing_left.confidence) == (0, 0)


def test_stop_words_of_a_phrase_are_left_out(tmp_path):
    path = tmp_path / "texts.txt"
    path.write_text("\n".join(TEXTS) + "\n", encoding="utf-8")
    reading = every_word(stop_words=["the", "and"])
    index = open_index(build_index(path, tmp_path / "index", IndexOptions(n_components=3), reading).path)
    assert index.spell("sushi and the rice") == "sushi rice"
    assert index.spell("the") == "the"


@pytest.mark.parametrize(
    ("by", "hints"),
    [
        ("words", ["judge", {"goal": 1.0, "cup": 0.5}, ["sushi", "rice"]]),
        ("text", ["the judge and the jury", ["goal", "a cup for the team"], "sushi rice"]),
        ("documents", [[2, 8], [1], [0]]),
    ],
)
def test_many_hints_are_answered_in_their_order(index, by, hints):
    found = index.search_many(hints, by=by)
    assert [next(row for row, _ in topic.documents(1)) % 3 for topic in found] == [2, 1, 0]
    for one, hint in zip(index.search_many(hints, by=by, n_jobs=1), hints, strict=True):
        assert_close(one.probabilities, index.search(**{by: hint}).probabilities)


@pytest.mark.parametrize("step", ["Storing", "Listing words", "Fitting topics"])
def test_an_error_in_the_middle_leaves_the_old_index_and_nothing_else(step, tmp_path):
    source, path = write_jsonl(tmp_path), tmp_path / "index"
    build_index(source, path, IndexOptions(n_components=3))
    before = sorted(path.rglob("*"))

    def fail(now, *_):
        if now == step:
            raise RuntimeError("power cut")

    with pytest.raises(RuntimeError, match="power cut"):
        build_index(source, path, IndexOptions(n_components=2, overwrite=True), on_progress=fail)
    assert sorted(path.rglob("*")) == before
    assert open_index(path).n_components == 3
    open_index(path).verify()


def test_a_corpus_that_was_read_already_makes_the_same_index(tmp_path, built):
    with count_texts(TEXTS, ONCE, names=[f"d{i}" for i in range(len(TEXTS))]) as corpus:
        build_index(corpus, tmp_path / "index", IndexOptions(n_components=3), ONCE)
        assert corpus.to_counts().shape == (299, 35)  # still there: it is its maker's to close
    assert checksums(tmp_path / "index") == checksums(built.path)


def test_fewer_topics_than_requested_are_a_warning_but_not_fewer_than_the_default(tmp_path):
    built = build_index(write_jsonl(tmp_path), tmp_path / "index", reading=every_word())
    assert 3 <= built.n_components < 35
    with pytest.warns(FewerComponentsWarning) as caught:
        build_index(write_jsonl(tmp_path), tmp_path / "other", IndexOptions(n_components=35), every_word())
    assert caught[0].message.fields["n_requested"] == 35


@pytest.mark.parametrize(("name", "value"), [("alpha0", -1), ("moments", "magic"), ("weights", "heavy")])
def test_an_option_that_cannot_be_is_refused_before_anything_is_read(name, value, tmp_path):
    with raises("bad_argument", argument=name, value=value):
        build_index(tmp_path / "nothing.jsonl", tmp_path / "index", IndexOptions(search={name: value}))


def test_an_alternative_lists_the_topic_found_first_as_the_search_found_it(index):
    query = Query("sushi", words={"sushi": 1.0})
    found = index.find(query)
    first, second = describe(found), describe(found, AnswerOptions(alternative=1))
    assert [each.rank for each in first.alternatives] == [1, 2]
    assert [each.rank for each in second.alternatives] == [0, 2]
    assert (second.alternative, second.alternatives[0].weight) == (1, first.weight)
    assert second.weight == first.alternatives[0].weight
    with raises("no_such_alternative", alternative=3, n_alternatives=2):
        describe(found, AnswerOptions(alternative=3))


def test_topics_of_several_questions_share_a_document(index):
    words = ["sushi", "rice", "sushi rice"]
    queries = [Query(word, words=dict.fromkeys(word.split(), 1.0)) for word in words]
    alone = [answer_queries(index, [query], AnswerOptions(n_documents=20))[0].answer for query in queries]
    together = [outcome.answer for outcome in answer_queries(index, queries, AnswerOptions(n_documents=20))]
    totals: dict[int, float] = {}
    for one, other in zip(together, alone, strict=True):
        shares = [document.share for document in one.documents]
        assert shares == sorted(shares, reverse=True)
        assert {document.row for document in one.documents} == {document.row for document in other.documents}
        for document in one.documents:
            totals[document.row] = totals.get(document.row, 0) + document.share
    assert max(totals.values()) <= 1 + 1e-9
    assert max(document.share for document in alone[0].documents) > 0.6
