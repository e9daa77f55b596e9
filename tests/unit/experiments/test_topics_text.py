import gzip
import json

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import rel_entr

from mixsearch.errors import SearchError
from mixsearch.experiments import Case, Row, Rows, _topics_text
from mixsearch.experiments import _topic_comparison as comparison
from mixsearch.experiments._corpora import ARTICLES, available, load_text, merge_names
from mixsearch.experiments._labeled_words import NEWS, REVIEWS
from mixsearch.experiments._topics_text import compute_typicality, make_corpus_cases, run_part

# Planted topics, each with one of the paper's labelled words, and words that all of them share.
PLANTED = {
    "golf": ["golf", "birdie", "fairway", "caddie", "putter", "bunker"],
    "wine": ["wine", "vineyard", "grape", "cellar", "barrel", "vintage"],
    "court": ["court", "judge", "verdict", "jury", "plaintiff", "appeal"],
    "music": ["music", "violin", "melody", "concert", "quartet", "rehearsal"],
    "rain": ["rain", "cloud", "thunder", "forecast", "humidity", "drizzle"],
}
LABELLED = [word for word in NEWS if word in PLANTED]
SHARED = [f"{start}{end}" for start in ("com", "us", "pla", "dai") for end in ("mon", "ual", "in", "ly")]


def planted_texts(n_texts, rng):
    """Texts that are mostly about one planted topic, in turn."""
    topics = list(PLANTED.values())
    for i in range(n_texts):
        own = rng.choice(topics[i % len(topics)], size=12)
        yield " ".join([*own, rng.choice(topics[(i + 1) % len(topics)]), *rng.choice(SHARED, size=3)])


def write_lines(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    with gzip.open(path, "wt", encoding="utf-8") as lines:
        lines.writelines(json.dumps(row) + "\n" for row in rows)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder of data with posts of the planted topics, and articles about them."""
    monkeypatch.setenv("MIXSEARCH_DATA", str(tmp_path))
    rng = np.random.default_rng(0)
    posts = ({"text": f"From: secretheader\n\n{text}"} for text in planted_texts(200, rng))
    write_lines(tmp_path / "text/20news_bydate.jsonl.gz", posts)
    write_lines(tmp_path / ARTICLES, ({"text": text} for text in planted_texts(60, rng)))
    return tmp_path


def write_bags(folder, name, counts, words):
    """Write a corpus in the format of UCI's bags of words."""
    n, d = counts.shape
    lines = [f"{row + 1} {word + 1} {counts[row, word]}" for row, word in np.argwhere(counts)]
    (folder / "text").mkdir(exist_ok=True)
    (folder / f"text/docword.{name}.txt").write_text("\n".join([str(n), str(d), str(len(lines)), *lines]) + "\n")
    (folder / f"text/vocab.{name}.txt").write_text("\n".join(words) + "\n")


def test_the_paper_asks_for_62_words_of_news_and_54_of_reviews():
    assert len(set(NEWS)) == 62
    assert len(set(REVIEWS)) == 54


def test_names_are_spelled_as_in_texts_and_added_to_the_same_word():
    counts = sp.csr_array([[1, 2, 0], [0, 3, 4]])
    joined, words = merge_names(counts, ["afghan", "zzz_afghan", "zzz_al_gore"])
    assert words == ["afghan", "al gore"]
    assert_array_equal(joined.toarray(), [[3, 0], [3, 4]])


def test_words_without_names_stay_as_they_are():
    counts = sp.csr_array([[1, 2]])
    same, words = merge_names(counts, ["wine", "golf"])
    assert same is counts
    assert words == ["wine", "golf"]


def test_posts_are_counted_without_their_headers(folder):
    corpus = load_text("newsgroups")
    assert "secretheader" not in corpus.words
    assert set(corpus.words) == {word for words in PLANTED.values() for word in words}.union(SHARED)
    assert_allclose(corpus.frequencies, corpus.counts.toarray().sum(axis=0) / corpus.counts.sum())


def test_labelled_words_are_held_by_enough_documents_and_known_to_the_reference(folder):
    assert list(load_text("newsgroups").labeled) == LABELLED
    texts = list(planted_texts(200, np.random.default_rng(1)))
    added = {"thai": 60, "sushi": 15, "pizza": 200}  # the reference does not know the first; too few, too many
    reviews = [" ".join([text, *(word for word, n in added.items() if i < n)]) for i, text in enumerate(texts)]
    write_lines(folder / "text/yelp_10k.jsonl.gz", ({"text": review} for review in reviews))
    corpus = load_text("yelp-10k")
    assert [word in corpus.words for word in added] == [True, True, False]
    assert corpus.labeled == {}


def test_bags_of_words_are_found_packed_or_not_and_names_of_two_words_are_known(folder):
    rng = np.random.default_rng(2)
    counts = rng.poisson([0.4, 0.4, 0.4, 0.1], size=(3000, 4)) * (rng.uniform(size=(3000, 1)) < 0.8)
    # The last word is in fewer documents than the cut of the paper's authors.
    write_bags(folder, "nytimes", counts, ["zzz_golf", "wine", "zzz_golf_birdie", "rare"])
    assert available() == ["newsgroups", "nytimes"]
    corpus = load_text("nytimes")
    assert corpus.words == ["golf", "wine", "golf birdie"]
    assert "golf birdie" in corpus.reference
    assert list(corpus.labeled) == ["golf", "wine"]


def test_the_file_of_yelp_s_reviews_is_read_as_it_comes(folder):
    texts = (text.replace("music", "pizza") for text in planted_texts(200, np.random.default_rng(3)))
    reviews = ({"review_id": f"r{i}", "stars": 5.0, "text": text} for i, text in enumerate(texts))
    lines = "".join(json.dumps(review) + "\n" for review in reviews)
    (folder / "text/yelp_academic_dataset_review.json").write_text(lines, encoding="utf-8")
    corpus = load_text("yelp")
    assert corpus.counts.shape[0] == 200
    assert "pizza" in corpus.words


def test_a_missing_corpus_is_named(folder):
    with pytest.raises(SearchError, match=r"has no text/docword.kos.txt.gz"):
        load_text("kos")


def test_typical_words_add_up_to_the_divergence():
    rng = np.random.default_rng(3)
    topic, corpus = rng.dirichlet(np.ones(8), size=2)
    topic[0] = 0
    assert_allclose(compute_typicality(topic, corpus), rel_entr(topic, corpus))


@pytest.fixture
def small(monkeypatch):
    """Settings for the planted corpus."""
    monkeypatch.setattr(_topics_text, "K", 5)
    monkeypatch.setattr(_topics_text, "MAX_ANCHOR_DOCUMENTS", 20)
    monkeypatch.setattr(_topics_text, "N_SCORED", 6)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(
    ("part", "methods"),
    [
        ("search", {comparison.CORPUS, *comparison.SCORED} - {comparison.NMF, comparison.SS_NMF}),
        (comparison.NMF, {comparison.NMF}),
        (comparison.PUBLISHED, {comparison.PUBLISHED}),
        ("SS-NMF 1/1", {comparison.SS_NMF}),
    ],
)
def test_every_method_finds_the_planted_words(folder, small, part, methods):
    results = list(run_part(Case({"corpus": "newsgroups", "part": part}, 0)))
    assert {each.method for each in results} == methods
    scored = [each for each in results if each.metric == comparison.PMI]
    assert {(each.method, each.target) for each in scored} == {
        (m, w) for m in methods - {comparison.CORPUS} for w in PLANTED
    }
    for each in scored:
        # A semi-supervised fit sees little of the other topics, and takes them for anchors.
        least = 2 if each.method == comparison.SS_NMF else 4
        assert len(set(each.note.split(", ")) & set(PLANTED[each.target])) >= least, each
        assert each.value > 0


def test_semi_supervised_parts_share_out_the_labelled_words(folder, small):
    parts = [run_part(Case({"corpus": "newsgroups", "part": f"SS-NMF {part}/2"}, 0)) for part in (1, 2)]
    words = [[each.target for each in part if each.metric == "seconds"] for part in parts]
    assert words == [LABELLED[::2], LABELLED[1::2]]


def test_cases_are_those_of_the_corpora_that_are_there(folder):
    full, quick = (make_corpus_cases(each) for each in (False, True))
    assert {case.setting["corpus"] for case in full} == {"newsgroups"}
    assert [case.setting["part"] for case in quick] == ["search", "NMF", "NMF, published solver", "SS-NMF 1/4"]
    assert len(full) == 3 + 8


def test_a_quick_run_leaves_out_large_corpora_unless_there_is_no_other(folder):
    (folder / "text/imdb_50k.jsonl.gz").touch()
    full, quick = ({case.setting["corpus"] for case in make_corpus_cases(each)} for each in (False, True))
    assert (full, quick) == ({"newsgroups", "imdb"}, {"newsgroups"})
    (folder / "text/20news_bydate.jsonl.gz").unlink()
    assert {case.setting["corpus"] for case in make_corpus_cases(True)} == {"imdb"}


def test_without_data_the_cases_are_of_all_corpora(monkeypatch):
    monkeypatch.delenv("MIXSEARCH_DATA", raising=False)
    cases = make_corpus_cases(True)
    assert {"newsgroups", "kos", "yelp-10k"} < {case.setting["corpus"] for case in cases}
    with pytest.raises(SearchError, match="Give their folder with --data"):
        list(run_part(cases[0]))


def row(method, metric, value, target="", corpus="kos", note="a, b"):
    return Row("topics-text", {"corpus": corpus, "part": ""}, 0, method, metric, target, value, note, "1", False)


def rows_of_three(corpus="kos"):
    """Whitening is best for golf and wine, NMF for court, SS-NMF for none, which has no answer for tax."""
    scores = {
        comparison.WHITENING: {"golf": 1.0, "wine": 0.8, "court": 0.1, "tax": 0.0},
        comparison.PAPERS: {"golf": 0.0, "wine": 0.9, "court": 0.1, "tax": 0.0},
        comparison.NMF: {"golf": 0.5, "wine": 0.7, "court": 0.6, "tax": 0.5},
        comparison.SS_NMF: {"golf": 0.2, "wine": 0.1, "court": 0.2},
    }
    for method, values in scores.items():
        for metric in (comparison.PMI, comparison.PMI_TYPICAL, comparison.NPMI, comparison.COHERENCE):
            yield from (row(method, metric, value, word, corpus) for word, value in values.items())
    for method, times in {
        comparison.WHITENING: (1.0, 1.0),
        comparison.NMF: (4.0,),
        comparison.SS_NMF: (3.0, 5.0, 4.0),
    }.items():
        yield from (row(method, "seconds", seconds, str(place), corpus) for place, seconds in enumerate(times))
    yield row(comparison.CORPUS, "documents", 3430, corpus=corpus)
    yield row(comparison.CORPUS, "words", 6095, corpus=corpus)


def test_the_best_is_counted_over_words_that_all_have_an_answer_for():
    rows = Rows(rows_of_three())
    assert comparison.count_best(rows, comparison.OURS) == [2, 1, 0]
    assert comparison.count_best(rows, comparison.THEIRS) == [1, 2, 0]


def test_times_are_of_the_fit_and_all_labelled_words():
    rows = Rows(rows_of_three())
    assert comparison.sum_seconds(rows, comparison.WHITENING) == 2
    assert comparison.sum_seconds(rows, comparison.SS_NMF) == 16  # of four words, three of which were run
    assert np.isnan(comparison.sum_seconds(rows, comparison.PUBLISHED))


def test_tables_tell_counts_times_and_words():
    table = comparison.format_topics(Rows([*rows_of_three(), *rows_of_three("ap")]))
    assert "| KOS blog | 3,430 | 6,095 | 4 of 62 |" in table
    assert "| Associated Press | our choices | PMI | 3 | 2 (67%) | 1 (33%) | 0 (0%) |" in table
    assert "| KOS blog | the paper's choices | NPMI | 3 | 1 (33%) | 2 (67%) | 0 (0%) |" in table
    assert "| KOS blog | PMI | 0.633 |  | 0.333 |  | 0.6 | 0.167 |  |" in table  # without tax
    assert "| KOS blog | 2 (1×) |  |  |  | 4 (2×) |  | 16 (8×) |" in table
    assert "| wine | a, b **0.80** | a, b 0.90 | a, b 0.70 | a, b 0.10 |" in table
    assert "| tax | a, b 0.00 | a, b 0.00 | a, b **0.50** |  |" in table


def test_the_picture_shows_shares_of_the_corpora_and_of_the_paper():
    figure = comparison.draw_comparison(Rows(rows_of_three()), "Topics")
    panels = {axes.get_label(): axes for axes in figure.axes}
    assert sorted(panels) == ["NPMI ours", "NPMI theirs", "PMI ours", "PMI theirs", "times"]
    left, times = panels["PMI ours"], panels["times"]
    assert [label.get_text() for label in left.get_yticklabels()] == ["KOS blog", *comparison.PAPERS_COUNTS]
    widths = np.reshape([bar.get_width() for bar in left.patches], (3, 3))  # methods, bars
    assert_allclose(widths.sum(axis=0), 100)
    assert_allclose(widths[0], [100 * 2 / 3, 100 * 40 / 62, 100 * 35 / 54])
    assert any("SS-NMF: 8×" in text.get_text() for text in times.texts)
