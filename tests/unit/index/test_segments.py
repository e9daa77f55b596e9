"""An index in several segments answers as the same documents in one."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from tests.coded import raises
from tests.unit.index.same_answers import assert_same_answers
from tests.unit.index.update.grown_index import OPTIONS, READING, list_subjects, make_reviews, write_reviews

from mixsearch.errors import collect_warnings
from mixsearch.index import (
    AnswerOptions,
    Query,
    add_documents,
    build_index,
    describe,
    open_index,
    refresh_index,
    remove_documents,
)
from mixsearch.text import CorpusOptions
from mixsearch.topics import segments as _segments

# The reviews have about 2,700 non-zeros: four segments.
LIMIT = 900
FIRST, MORE = make_reviews(list_subjects(300), 0), make_reviews(list_subjects(40), 1000)
WORDS = ("sushi", "goal", "judge", "tuna", "cup")


def build(folder, limit=None, options=OPTIONS, reading=READING, reviews=FIRST):
    folder.mkdir(exist_ok=True)
    source = write_reviews(folder / "reviews.parquet", reviews)
    with pytest.MonkeyPatch.context() as patch:
        if limit is not None:
            patch.setattr(_segments, "MAX_NONZEROS", limit)
        build_index(source, folder / "index", options, reading)
    return folder / "index"


@pytest.fixture(scope="module")
def paths(tmp_path_factory):
    """The same documents in one segment and in several; tests that change an index build their own."""
    folder = tmp_path_factory.mktemp("segments")
    return build(folder / "one"), build(folder / "several", LIMIT)


@pytest.fixture(scope="module")
def indexes(paths):
    return tuple(map(open_index, paths))


@pytest.fixture
def changing(tmp_path):
    return build(tmp_path / "one"), build(tmp_path / "several", LIMIT)


def test_a_corpus_beyond_the_limit_is_stored_in_segments_of_about_equal_size(indexes):
    one, several = indexes
    assert len(one.fitted.segments) == 1
    sizes = [segment.by_document.nnz for segment in several.fitted.segments]
    assert len(sizes) == 4
    assert max(sizes) <= LIMIT
    assert max(sizes) - min(sizes) < 60  # some counts are those of documents that are too short
    assert several.contents().n_nonzeros == one.contents().n_nonzeros == sum(sizes)
    for segment in several.fitted.segments:
        assert segment.by_document.indices.dtype == segment.by_word.indices.dtype == np.int32
        assert_array_equal(segment.by_document.toarray(), segment.by_word.toarray())


def test_topics_documents_and_confidence_are_those_of_one_segment(indexes):
    assert_same_answers(*indexes, WORDS)


def test_texts_names_columns_and_snippets_are_those_of_one_segment(indexes):
    one, several = indexes
    rows = one.topics.kept_rows_.tolist()
    assert several.documents(rows) == one.documents(rows)
    assert several.documents(rows[::-7]) == one.documents(rows[::-7])
    assert list(several.names()) == list(one.names())
    assert list(several.short_names()) == list(one.short_names())
    assert several.columns.table.equals(one.columns.table)
    assert several.columns.described == one.columns.described
    options = AnswerOptions(n_documents=20)
    answers = [
        describe(index.find(Query("asked", words={"sushi": 1.0})), options).as_dict()["documents"] for index in indexes
    ]
    assert len(answers[0]) == 20
    for ours, theirs in zip(*answers, strict=True):
        assert ours.pop("share") == pytest.approx(theirs.pop("share"), rel=1e-6)
        assert ours["snippet"]
        assert ours == theirs


@pytest.mark.parametrize("groups", [{"over": "day", "every": "quarter"}, {"by": "shop"}, {"by": "stars"}])
def test_shares_over_time_and_by_group_are_those_of_one_segment(indexes, groups):
    expected, found = (index.group(["sushi", "goal"], **groups).topics for index in indexes)
    for theirs, ours in zip(expected, found, strict=True):
        assert [group.label for group in ours.groups] == [group.label for group in theirs.groups]
        assert len(ours.groups) > 1
        for name in ("n_documents", "n_about", "share"):
            assert_allclose(*([getattr(group, name) for group in each.groups] for each in (ours, theirs)), rtol=1e-6)


def test_documents_are_added_after_those_of_all_segments(changing):
    for path in changing:
        for i in range(3):
            more = make_reviews(list_subjects(20), 1000 * (i + 1))
            add_documents(path, write_reviews(path.parent / f"more-{i}.parquet", more))
    one, several = map(open_index, changing)
    assert_same_answers(one, several, WORDS)
    growth, expected = several.contents().growth, one.contents().growth
    assert (growth.n_fitted, growth.n_added) == (expected.n_fitted, expected.n_added) == (270, 54)
    assert growth.outside == pytest.approx(expected.outside, rel=1e-5)
    # They are joined with each other, never with those of the fit.
    assert [segment.n_rows for segment in several.fitted.segments[4:]] == [
        segment.n_rows for segment in one.fitted.segments[1:]
    ]


def test_documents_are_removed_from_all_segments(changing):
    for path in changing:
        remove_documents(path, where="stars = 1")
        remove_documents(path, ids=["r0", "r9", "r299"])
        remove_documents(path, rows=list(range(60, 170)))  # the whole of a segment
    one, several = map(open_index, changing)
    assert len(several.fitted.segments) == 3
    assert_same_answers(one, several, WORDS)


def test_a_refresh_stores_as_many_segments_as_it_needs(changing, monkeypatch):
    for path in changing:
        add_documents(path, write_reviews(path.parent / "more.parquet", MORE))
        remove_documents(path, where="stars = 1")
    refresh_index(changing[0])
    monkeypatch.setattr(_segments, "MAX_NONZEROS", LIMIT)
    refresh_index(changing[1])
    one, several = map(open_index, changing)
    assert len(several.fitted.segments) == 3
    assert_same_answers(one, several, WORDS)
    monkeypatch.undo()
    refresh_index(changing[1])
    assert len(open_index(changing[1]).fitted.segments) == 1


def test_dropped_words_are_answered_from_the_documents_of_all_segments(tmp_path):
    texts = [f"{text} tasty" if i % 100 == 0 else text for i, text in enumerate(FIRST["review"].to_pylist())]
    reviews = FIRST.set_column(FIRST.column_names.index("review"), "review", [texts])
    reading = CorpusOptions(text="review", id="review_id", min_df=4, max_df=0.3, stop_words=["and"])
    paths = [
        build(tmp_path / name, limit, reading=reading, reviews=reviews)
        for name, limit in (("one", None), ("several", 300))
    ]
    one, several = map(open_index, paths)
    assert len(several.fitted.segments) > 2
    common = list(one.fitted.common_words)[:2]
    assert several.fitted.common_words == one.fitted.common_words
    assert several.contents().dropped_words == one.contents().dropped_words
    for word in ("tasty", *common, "and", "unheard"):
        assert several.fitted.is_dropped(word) == one.fitted.is_dropped(word)
        assert several.fitted.count_dropped(word) == one.fitted.count_dropped(word)
    with collect_warnings():
        assert_same_answers(one, several, ["tasty", *common])
    remove_documents(several.path, ids=["r0"])
    assert open_index(several.path).fitted.count_dropped("tasty") == 2


def test_more_counts_than_can_be_added_at_once_are_refused(changing, monkeypatch):
    monkeypatch.setattr(_segments, "MAX_NONZEROS", 300)
    before = open_index(changing[1]).generation
    with raises("too_many_counts", maximum=300):
        add_documents(changing[1], write_reviews(changing[1].parent / "more.parquet", MORE))
    assert open_index(changing[1]).generation == before
