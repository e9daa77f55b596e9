"""Columns of vectors, and texts as examples, with a planted embedder: one axis for each kind of word."""

import sys
from types import ModuleType

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mixsearch import TableSearch, find
from mixsearch.errors import ArgumentError, HintError, SearchError
from mixsearch.table._columns import Column
from mixsearch.table._embedding import _load_model, embed_column, embed_texts

WORDS = {"sushi": 0, "rice": 0, "pizza": 1, "pasta": 1, "tax": 2, "law": 2}
GROUPS = (("sushi", "rice"), ("pizza", "pasta"), ("tax", "law"))
N_ROWS, N_DIMENSIONS = 180, 8


def embed(texts: list[str]) -> np.ndarray:
    """Count the words of each kind; a text of its own adds a little of the other dimensions."""
    vectors = np.zeros((len(texts), N_DIMENSIONS))
    for vector, text in zip(vectors, texts, strict=True):
        words = [word for word in text.split() if word in WORDS]
        for word in words:
            vector[WORDS[word]] += 1
        if words:
            vector += 0.1 * np.random.default_rng(list(text.encode())).normal(size=N_DIMENSIONS)
    return vectors


class Encoder:
    """A stand-in for the models of packages."""

    def __init__(self, name="none"):
        self.name = name

    @classmethod
    def from_pretrained(cls, name):
        return cls(name)

    def encode(self, texts):
        if self.name == "broken":
            raise OSError("no such model\nwith more lines")
        return embed(texts).astype(np.float32)


@pytest.fixture(scope="module")
def reviews():
    rng = np.random.default_rng(0)
    group = np.arange(N_ROWS) % 3
    texts = [" ".join([*rng.choice(GROUPS[each], 4), f"number {row}"]) for row, each in enumerate(group)]
    return pd.DataFrame({"review": texts, "embedding": list(embed(texts)), "price": rng.normal(size=N_ROWS)}), group


def assert_finds(found, members):
    called = found.predict()
    assert members[called].mean() > 0.95
    assert called.sum() > 0.6 * members.sum()


@pytest.mark.parametrize(("text", "target"), [("sushi", 0), ("rice rice", 0), ("pasta", 1), ("tax law", 2)])
@pytest.mark.parametrize("embedder", [embed, Encoder()])
def test_a_text_finds_the_rows_that_are_about_it(reviews, embedder, text, target):
    table, group = reviews
    found = find(table, vectors="embedding", like_texts=[text], embedder=embedder)
    assert_finds(found, group == target)
    assert found.like == ()
    assert found.like_texts == (text,)
    assert repr(found).startswith(f"Rows like {text!r}")


def test_rows_and_texts_are_examples_together(reviews):
    table, group = reviews
    search = TableSearch(embedder=embed).fit(table, vectors="embedding")
    found = search.search([0, 3], like_texts=["sushi rice"], not_like=[1], not_like_texts=["tax"])
    assert_finds(found, group == 0)
    assert found.membership[[0, 3]].tolist() == [1, 1]
    assert found.membership[1] == 0
    assert found._n_examples == 3
    assert found.n_members.high / found.n_members.n < search.search(like_texts=["sushi"]).n_members.high


def test_a_column_of_texts_is_embedded(reviews):
    table, group = reviews
    search = TableSearch(embedder=embed).fit(table, vectors="review")
    assert search.columns_ == ("review",)
    by_vectors = TableSearch(embedder=embed).fit(table, vectors="embedding")
    rows = np.arange(N_ROWS)
    assert_allclose(search._fit.take_features(rows), by_vectors._fit.take_features(rows))
    found = search.search([0])
    assert found.membership_of({"review": ["rice sushi sushi rice"]}) > 10 * found.membership_of({"review": ["tax"]})
    assert_finds(search.search({"review": ["pizza pasta"]}), group == 1)


def test_a_column_of_texts_is_embedded_in_partitions(reviews):
    table, group = reviews
    search = TableSearch(embedder=embed).fit(dd.from_pandas(table, npartitions=3), vectors="review")
    assert_finds(search.search(like_texts=["tax"]), group == 2)


def test_of_a_text_only_the_vector_is_known(reviews):
    """Rows of one price far from all others are no nearer to a text than the rest."""
    table, group = reviews
    priced = table.assign(price=np.where(group == 2, 50.0, 0.0) + table["price"])
    search = TableSearch(embedder=embed).fit(priced, columns=["price"], vectors="embedding")
    assert search.columns_ == ("price", "embedding")
    for target, text in enumerate(("sushi", "pasta", "law")):
        assert_finds(search.search(like_texts=[text]), group == target)


def test_a_saved_search_takes_its_embedder_again(reviews, tmp_path, monkeypatch):
    table, group = reviews
    search = TableSearch(embedder=embed).fit(table, vectors="embedding")
    search.save(tmp_path / "reviews.fit")
    with pytest.raises(SearchError) as raised:
        TableSearch.load(tmp_path / "reviews.fit").search(like_texts=["sushi"])
    assert raised.value.code == "no_embedder"
    loaded = TableSearch.load(tmp_path / "reviews.fit", embedder=embed)
    assert_array_equal(loaded.search(like_texts=["sushi"]).predict(), search.search(like_texts=["sushi"]).predict())
    install(monkeypatch, "model2vec", StaticModel=Encoder)
    TableSearch(embedder="model2vec:tiny").fit(table, vectors="embedding").save(tmp_path / "named.fit")
    assert_finds(TableSearch.load(tmp_path / "named.fit").search(like_texts=["law"]), group == 2)


def install(monkeypatch, package, **names):
    module = ModuleType(package)
    for name, value in names.items():
        setattr(module, name, value)
    monkeypatch.setitem(sys.modules, package, module)
    _load_model.cache_clear()


@pytest.mark.parametrize(
    ("name", "package", "constructor"),
    [
        ("model2vec:tiny", "model2vec", "StaticModel"),
        ("sentence-transformers:tiny", "sentence_transformers", "SentenceTransformer"),
    ],
)
def test_a_name_loads_the_model_of_its_package(monkeypatch, name, package, constructor):
    install(monkeypatch, package, **{constructor: Encoder})
    assert_allclose(embed_texts(name, ["sushi", "law"]), embed(["sushi", "law"]), atol=1e-6)
    monkeypatch.setitem(sys.modules, package, None)
    _load_model.cache_clear()
    extra = name.partition(":")[0]
    with pytest.raises(SearchError, match=rf"needs the package {extra}: pip install 'mixsearch\[{extra}\]'") as raised:
        embed_texts(name, ["sushi"])
    assert raised.value.code == "package_missing"


def test_a_model_that_cannot_be_loaded_is_named(monkeypatch):
    def fail(name):
        raise OSError("no such model\nwith more lines")

    install(monkeypatch, "sentence_transformers", SentenceTransformer=fail)
    with pytest.raises(
        SearchError, match=r"'sentence-transformers:x' cannot be loaded: no such model\. Check"
    ) as raised:
        embed_texts("sentence-transformers:x", ["sushi"])
    assert raised.value.code == "embedder_not_loaded"


@pytest.mark.parametrize("embedder", ["tiny", "gensim:tiny", "model2vec:", 3])
def test_what_is_no_embedder_is_refused(embedder):
    with pytest.raises(ArgumentError, match="embedder must be"):
        embed_texts(embedder, ["sushi"])


@pytest.mark.parametrize(
    "made",
    [[[1.0]], [1.0, 2.0], np.array([[1.0], [np.nan]]), [["a"], ["b"]], np.empty((2, 0)), [[1.0], [1.0, 2.0]], None],
)
def test_an_embedder_must_return_one_vector_for_each_text(made):
    with pytest.raises(SearchError, match="one vector of finite numbers for each of 2 texts") as raised:
        embed_texts(lambda texts: made, ["a", "b"])
    assert raised.value.code == "bad_embedding"


@pytest.mark.parametrize(
    ("texts", "embedder", "code", "words"),
    [
        (
            ["sushi"],
            lambda texts: np.ones((len(texts), 3)),
            "other_dimension",
            "'embedding' have 8 numbers, but 3 were",
        ),
        (["hat"], embed, "unknown_text", "knows no word of 'hat'"),
        (["sushi"], None, "no_embedder", "Texts need an embedder"),
        ("sushi", embed, "bad_texts", "like_texts must be a list of texts"),
        ([""], embed, "bad_texts", "none of them empty"),
        ([3], embed, "bad_texts", "like_texts must be a list of texts"),
        ([], embed, "no_rows_named", "names no row"),
    ],
)
def test_texts_that_cannot_be_compared_are_refused(reviews, texts, embedder, code, words):
    search = TableSearch(embedder=embedder).fit(reviews[0], vectors="embedding")
    with pytest.raises((HintError, SearchError), match=words) as raised:
        search.search(like_texts=texts)
    assert raised.value.code == code


def test_texts_need_one_column_of_vectors(reviews):
    table = reviews[0]
    for columns in (["price"], ["embedding", "other"]):
        search = TableSearch(embedder=embed).fit(table.assign(other=table["embedding"]), columns=columns)
        with pytest.raises(SearchError) as raised:
            search.search(like_texts=["sushi"])
        assert raised.value.code == "no_vectors"


@pytest.mark.parametrize("column", ["price", "review"])
def test_vectors_must_be_vectors(reviews, column):
    with pytest.raises(SearchError, match=f"vectors needs a column of vectors.*'{column}'") as raised:
        TableSearch().fit(reviews[0], vectors=column)
    assert raised.value.code == "not_vectors"


def test_a_column_that_names_the_rows_is_no_column_of_vectors(reviews):
    with pytest.raises(SearchError, match="'review' is neither: it is left out") as raised:
        TableSearch(embedder=embed).fit(reviews[0], id="review", vectors="review")
    assert raised.value.code == "not_vectors"


def test_vectors_of_another_length_are_refused(reviews):
    search = TableSearch().fit(reviews[0], vectors="embedding")
    with pytest.raises(SearchError) as raised:
        search.search({"embedding": [np.ones(3)]})
    assert raised.value.code == "other_dimension"


def test_equal_texts_are_embedded_once_and_missing_ones_stay_missing():
    seen = []
    column = Column("category", np.array([1, -1, 1, 0]), ("law", "tax", "unused"))
    found = embed_column(column, lambda texts: seen.extend(texts) or embed(texts))
    assert sorted(seen) == ["law", "tax"]
    assert_array_equal(found.missing, [False, True, False, False])
    assert_allclose(found.values[[0, 2, 3]], embed(["tax", "tax", "law"]))
