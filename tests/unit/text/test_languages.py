"""Segmenters and stemmers of other packages: their words and stems are counted, and hints are split in the same way."""

import pytest

from mixsearch.errors import ArgumentError, SearchError
from mixsearch.index import IndexOptions, build_index, open_index
from mixsearch.text import CorpusOptions, count_texts, split_words
from mixsearch.text.count import languages

SEGMENTED = {
    "jieba": ("自然语言处理的任务", {"处理", "任务"}),
    "fugashi": ("日本の寿司を食べるコンピュータ", {"日本", "寿司", "コンピュータ"}),
    "pythainlp": ("ภาษาไทยและอาหาร", {"และ", "อาหาร"}),
}


@pytest.mark.parametrize("name", SEGMENTED)
def test_a_segmenter_finds_whole_words(name):
    pytest.importorskip(name)
    text, words = SEGMENTED[name]
    found = split_words(f"{text} GPT4", CorpusOptions(segmenter=name))
    assert words <= set(found)
    # Nothing overlaps, and other scripts are split as ever.
    assert len("".join(found)) <= len(text) + 4
    assert found[-1] == "gpt4"


def test_other_scripts_stay_pairs_of_characters():
    pytest.importorskip("jieba")
    assert split_words("ไทย", CorpusOptions(segmenter="jieba")) == split_words("ไทย", CorpusOptions())


@pytest.mark.parametrize(
    ("options", "package", "extra"),
    [
        ({"segmenter": "jieba"}, "jieba", "chinese"),
        ({"segmenter": "fugashi"}, "fugashi", "japanese"),
        ({"segmenter": "pythainlp"}, "pythainlp", "thai"),
        ({"stem": "english"}, "snowballstemmer", "stem"),
    ],
)
def test_a_missing_package_is_named_with_the_command_that_installs_it(monkeypatch, options, package, extra):
    monkeypatch.setattr(languages, "find_spec", lambda name: None)
    with pytest.raises(SearchError, match=rf"needs {package}, .* pip install 'mixsearch\[{extra}\]'") as raised:
        CorpusOptions(**options)
    assert raised.value.code == "package_missing"


def test_a_segmenter_that_does_not_exist():
    with pytest.raises(ArgumentError, match="segmenter must be one of None, 'bigrams', 'jieba'.* got 'moses'"):
        CorpusOptions(segmenter="moses")


def test_a_language_without_stems():
    pytest.importorskip("snowballstemmer")
    with pytest.raises(ArgumentError, match="stem must be one of arabic.* got 'klingon'"):
        CorpusOptions(stem="klingon")


def test_forms_of_a_word_are_counted_together():
    pytest.importorskip("snowballstemmer")
    options = CorpusOptions(stem="english", min_df=1, max_df=1.0, stop_words=["running"], n_jobs=1)
    with count_texts(["Connected connections run", "connecting"], options) as corpus:
        assert corpus.vocabulary == ["connect"]
        assert corpus.to_counts().toarray().tolist() == [[2], [1]]


def test_stop_words_of_the_languages_that_occur_are_stemmed_too():
    pytest.importorskip("snowballstemmer")
    texts = ["they were having the sushi before everything", "having everything with the ramen because of it"] * 5
    with count_texts(texts, CorpusOptions(stem="english", max_df=1.0, n_jobs=1)) as corpus:
        assert {"sushi", "ramen"} <= set(corpus.vocabulary) <= {"sushi", "ramen", "have"}


def test_a_question_is_stemmed_as_the_texts_were(tmp_path):
    pytest.importorskip("snowballstemmer")
    path = tmp_path / "texts.txt"
    path.write_text("\n".join(["connected cables and plugs", "running shoes for runners"] * 10) + "\n")
    reading = CorpusOptions(stem="english", max_df=1.0)
    index = open_index(build_index(path, tmp_path / "index", IndexOptions(n_components=2), reading).path)
    assert index.spell("Connections") == "connect"
    assert index.document_frequency("connecting") == 10
    assert index.complete_word("conn", 1)[0].word == "connect"
