import numpy as np
import pytest
from tests.every_word import every_word

from mixsearch.text import count_texts


def kept_rows(documents, kind, **options):
    with count_texts(documents, every_word(drop_duplicates=kind, **options)) as corpus:
        assert corpus.n_documents + corpus.n_dropped == len(documents)
        chunks = list(corpus.chunks())
        texts = [text for chunk in chunks for text in chunk.texts]
        rows = [row for chunk in chunks for row in chunk.rows.tolist()]
        assert texts == [documents[row] for row in rows]
        assert sum(chunk.counts.shape[0] for chunk in chunks) == corpus.n_documents
        return rows, corpus.duplicates.tolist()


def random_text(rng, n_words):
    return [f"word{i}x" for i in rng.integers(0, 5000, n_words)]


def test_exact_duplicates_give_way_to_the_first_and_empty_texts_stay():
    documents = ["good sushi", "", "ramen", "good sushi", "", "good sushi!"]
    assert kept_rows(documents, "exact") == ([0, 1, 2, 4, 5], [[3, 0]])
    assert kept_rows(documents, "near") == ([0, 1, 2, 4], [[3, 0], [5, 0]])
    assert kept_rows(documents, None) == ([0, 1, 2, 3, 4, 5], [])


def test_a_changed_word_in_a_hundred_is_a_near_duplicate_and_a_new_half_is_none():
    rng = np.random.default_rng(0)
    originals = [random_text(rng, 100) for _ in range(60)]
    changed = [[*words[:50], "other", *words[51:]] for words in originals]
    halves = [[*words[:50], *random_text(rng, 50)] for words in originals]
    documents = [" ".join(words) for words in [*originals, *changed, *halves]]
    rows, duplicates = kept_rows(documents, "near", n_jobs=1)
    assert set(range(60)) <= set(rows)
    assert set(range(120, 180)) <= set(rows)
    # 95 of 101 different sequences are shared: each is found with probability .9999.
    assert len(duplicates) >= 58
    assert all(row - 60 == original for row, original in duplicates)


@pytest.mark.parametrize("kind", ["exact", "near"])
def test_duplicates_do_not_depend_on_chunks_or_threads(kind):
    rng = np.random.default_rng(1)
    pool = [" ".join(random_text(rng, 30)) for _ in range(800)]
    documents = [pool[i] for i in rng.integers(0, 800, 3000)]
    alone = kept_rows(documents, kind, n_jobs=1)
    assert len(alone[0]) == len(set(documents))
    assert kept_rows(documents, kind, n_jobs=3, memory=1) == alone
