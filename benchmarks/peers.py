"""Other ways to a topic from a word, on the same counts: one function each, one process and one thread each.

Every function takes the corpus and k, does all the work that no word is needed for, and returns how a word is answered.
Most peers fit k topics and leave it to their user to find the one that a word means, and to show its words. There are
two rules for each, and all four pairs are tried: the topic that is likeliest for the word, p(topic | word), or the one
where the word is likeliest, p(word | topic); its words by their probability p, or typical ones first, by p log(p/q),
with q that in the corpus. This package shows typical words, in a like order; no peer should lose by how it is shown.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from corpora import Corpus, load_corpus
from sklearn.decomposition import NMF, LatentDirichletAllocation
from sklearn.feature_extraction.text import TfidfTransformer
from word_rankings import Centroid, HoldsWord, LatentSemantics, RelevanceModel

from mixsearch import TopicSearch
from mixsearch._typing import Array

N_WORDS = 20
PASSES = 5
SWEEPS = 200
SEED = 0
# The prior of a seed word in its topic, and of all other words.
SEED_PRIOR, WORD_PRIOR = 1000.0, 0.02
ANCHOR_STRENGTH = 3
# Ranking by shares: a document counts as if it had this many more words on other topics.
WORDS_ELSEWHERE = 20
# Seconds of processor time after which a method is stopped.
LIMIT = 900


@dataclass(frozen=True, slots=True)
class Found:
    """The answer of a method to a word."""

    words: list[tuple[str, float]]  # likeliest first
    score_documents: Callable[[], Array]  # (n,), higher for documents that are more about it


Answer = Callable[[str], Found]
# A name for each rule that can tell which topic a word means; one rule for methods that need none.
Fitted = Mapping[str, Answer]


def word_count(corpus: Corpus, k: int) -> Fitted:
    """Rank without a model: the words of the documents that contain the word, and the documents that use it most."""
    columns, lengths = _columns(corpus), _lengths(corpus)

    def answer(word: str) -> Found:
        column = corpus.counts[:, [columns[word]]].toarray().ravel()
        return Found(_top(corpus, _mean_beside(corpus, column)), lambda: column / lengths)

    return {"": answer}


def lift(corpus: Corpus, k: int) -> Fitted:
    """Rank without a model: by counts times log lift in documents with the word."""
    columns, lengths = _columns(corpus), _lengths(corpus)
    everywhere = np.asarray(corpus.counts.mean(axis=0)) / lengths.mean()

    def answer(word: str) -> Found:
        beside = _mean_beside(corpus, corpus.counts[:, [columns[word]]].toarray().ravel())
        scores = beside * np.log(np.maximum(beside / beside.sum() / everywhere, 1))
        kept = np.where(scores >= np.sort(scores)[-N_WORDS], scores, 0)
        return Found(_top(corpus, scores), lambda: corpus.counts @ kept / lengths)

    return {"": answer}


def _ranking(make: Callable[[Corpus], Any]) -> Callable[[Corpus, int], Fitted]:
    """A simple ranking of documents as a method: its words are those of the largest weight."""

    def fit(corpus: Corpus, k: int) -> Fitted:
        ranking, columns = make(corpus), _columns(corpus)

        def answer(word: str) -> Found:
            column = columns[word]
            return Found(_top(corpus, ranking.direction(column)), lambda: ranking.rank(column))

        return {"": answer}

    return fit


def tomotopy_lda(corpus: Corpus, k: int) -> Fitted:
    """Latent Dirichlet allocation by Gibbs sampling, the package's defaults."""
    import tomotopy

    model = tomotopy.LDAModel(k=k, seed=SEED)
    places = [model.add_doc(bag, ignore_empty_words=True) for bag in _bags(corpus)]
    model.train(SWEEPS, workers=1)
    columns = _columns(corpus)
    topics = np.zeros((k, len(columns)))
    topics[:, [columns[word] for word in model.used_vocabs]] = [model.get_topic_word_dist(topic) for topic in range(k)]
    shares = np.zeros((len(places), k))
    shares[[place is not None for place in places]] = [document.get_topic_dist() for document in model.docs]
    return _by_rule(corpus, topics, shares)


def _bags(corpus: Corpus) -> Iterator[list[str]]:
    """Return the words of each document, repeated by their counts."""
    words, counts = np.array(corpus.words), corpus.counts
    for start, stop in pairwise(counts.indptr):
        yield np.repeat(words[counts.indices[start:stop]], counts.data[start:stop]).tolist()


def gensim_lda(corpus: Corpus, k: int) -> Fitted:
    """Latent Dirichlet allocation by online variational inference, five passes."""
    return _by_rule(corpus, *_gensim(corpus, k, eta=None))


def gensim_seeded(corpus: Corpus, k: int) -> Fitted:
    """Fit gensim's LDA with one topic reserved for each word by its prior."""
    _require_room(corpus, k)
    columns = _columns(corpus)
    eta = np.full((k, len(corpus.words)), WORD_PRIOR)
    eta[range(len(corpus.asked)), [columns[word] for word in corpus.asked]] = SEED_PRIOR
    return _by_rule(corpus, *_gensim(corpus, k, eta=eta), {"": corpus.asked.index})


def _gensim(corpus: Corpus, k: int, eta: Array | None) -> tuple[Array, Array]:
    from gensim.matutils import Sparse2Corpus
    from gensim.models import LdaModel

    bags = Sparse2Corpus(sp.csc_matrix(corpus.counts.T))
    names = dict(enumerate(corpus.words))
    # The package's 2,000 documents a step are too many for a small corpus: it would hardly move in five passes.
    chunk = min(2000, len(bags) // 4)
    model = LdaModel(
        bags, k, id2word=names, passes=PASSES, chunksize=chunk, eta=eta, random_state=SEED, eval_every=None
    )
    shares = np.concatenate([model.inference(bags[start : start + chunk])[0] for start in range(0, len(bags), chunk)])
    return model.get_topics(), shares / shares.sum(axis=1, keepdims=True)


def sklearn_lda(corpus: Corpus, k: int) -> Fitted:
    """Latent Dirichlet allocation by online variational inference, five passes."""
    model = LatentDirichletAllocation(k, learning_method="online", max_iter=PASSES, random_state=SEED)
    shares = model.fit_transform(corpus.counts)
    return _by_rule(corpus, model.components_, shares)


def sklearn_nmf(corpus: Corpus, k: int) -> Fitted:
    """Non-negative factors of tf-idf."""
    model = NMF(k, random_state=SEED)
    loadings = model.fit_transform(TfidfTransformer().fit_transform(corpus.counts))
    # The scale of a factor is arbitrary: all of it goes to the documents, of which shares rank better than loadings.
    loadings = loadings * model.components_.sum(axis=1)
    return _by_rule(corpus, model.components_, loadings / np.maximum(loadings.sum(axis=1, keepdims=True), 1e-300))


def corex(corpus: Corpus, k: int) -> Fitted:
    """Topics that explain most of the dependence of words, one anchored at each word."""
    from corextopic import corextopic

    _require_room(corpus, k)
    X = sp.csr_matrix(corpus.counts)
    anchors = [[word] for word in corpus.asked]
    model = corextopic.Corex(n_hidden=k, seed=SEED)
    model.fit(X, words=corpus.words, anchors=anchors, anchor_strength=ANCHOR_STRENGTH)
    # Its probabilities round to 1 for many documents; the log odds behind them still tell these apart.
    model.normalize_latent = lambda unnormalised: unnormalised
    without, within = model.calculate_latent(model.preprocess(X), model.theta)
    odds = within - without

    def answer(word: str) -> Found:
        topic = corpus.asked.index(word)
        words = model.get_topics(topic=topic, n_words=2 * N_WORDS)
        return Found([(w, float(score)) for w, score, sign in words if sign > 0][:N_WORDS], lambda: odds[:, topic])

    return {"": answer}


def mixsearch_plain(corpus: Corpus, k: int) -> Fitted:
    """The paper's estimate and choice, and its words by probability."""
    search = TopicSearch(k, damping=False, weights="uniform", metric=0, moments="plugin")
    return _mixsearch(corpus, search, by="probability", choose="largest", refine=False)


def mixsearch_default(corpus: Corpus, k: int) -> Fitted:
    """Run mixsearch with its defaults."""
    return _mixsearch(corpus, TopicSearch(k))


def mixsearch_probable(corpus: Corpus, k: int) -> Fitted:
    """Run mixsearch with topics shown by their most probable words."""
    return _mixsearch(corpus, TopicSearch(k), by="probability")


def mixsearch_by_share(corpus: Corpus, k: int) -> Fitted:
    """Run mixsearch with documents ranked by their share of the topic."""
    search = TopicSearch(k).fit(corpus.counts, vocabulary=corpus.words)
    lengths = np.asarray(corpus.counts.copy().log1p().sum(axis=1)) / np.log(2)

    def answer(word: str) -> Found:
        topic = search.search(words=word)
        return Found(
            topic.top_words(N_WORDS), lambda: topic.membership(corpus.counts) * lengths / (lengths + WORDS_ELSEWHERE)
        )

    return {"": answer}


def _mixsearch(corpus: Corpus, search: TopicSearch, by: str = "typical", **how: Any) -> Fitted:
    """The one place that knows how this package is called."""
    search.fit(corpus.counts, vocabulary=corpus.words)
    n_documents = corpus.counts.shape[0]

    def answer(word: str) -> Found:
        topic = search.search(words=word, **how)

        def score_documents() -> Array:
            scores = np.full(n_documents, -1.0)
            rows = [row for row, _ in topic.documents(n_documents)]
            scores[rows] = np.arange(len(rows), 0, -1)
            return scores

        return Found(topic.top_words(N_WORDS, by=by), score_documents)

    return {"": answer}


METHODS: dict[str, Callable[[Corpus, int], Fitted]] = {
    "mixsearch, the paper's": mixsearch_plain,
    "mixsearch": mixsearch_default,
    "mixsearch, documents by share": mixsearch_by_share,
    "mixsearch, words by probability": mixsearch_probable,
    "trivial: counts beside the word": word_count,
    "trivial: the same times log lift": lift,
    "trivial: centroid less mean": _ranking(Centroid),
    "trivial: BM25 + RM3": _ranking(RelevanceModel),
    "trivial: LSI": _ranking(LatentSemantics),
    "trivial: logistic regression on the word": _ranking(HoldsWord),
    "scikit-learn NMF on tf-idf": sklearn_nmf,
    "tomotopy LDA, 200 sweeps": tomotopy_lda,
    "scikit-learn LDA, online, 5 passes": sklearn_lda,
    "gensim LDA, 5 passes": gensim_lda,
    "corextopic, anchors, strength 3": corex,
    "gensim LDA, seeded prior, 5 passes": gensim_seeded,
}
# They reserve a topic for each word they know of before the fit: another word is another fit.
SEEDED = ("corextopic, anchors, strength 3", "gensim LDA, seeded prior, 5 passes")


def _require_room(corpus: Corpus, k: int) -> None:
    if k < len(corpus.asked):
        raise ValueError(f"needs {len(corpus.asked)} topics, one for each word")


def _by_rule(
    corpus: Corpus, topics: Array, shares: Array, choices: Mapping[str, Callable[[str], Any]] | None = None
) -> Fitted:
    """The ways to choose among topics, (k, d) up to scale, that documents hold in shares, (n, k), and to show words."""
    columns, sizes = _columns(corpus), _lengths(corpus) @ shares
    topics = topics / np.maximum(topics.sum(axis=1, keepdims=True), 1e-300)
    if choices is None:
        choices = {
            "p(topic | word)": lambda word: np.argmax(topics[:, columns[word]] * sizes),
            "p(word | topic)": lambda word: np.argmax(topics[:, columns[word]]),
        }
    everywhere = np.asarray(corpus.counts.sum(axis=0)).ravel() / corpus.counts.sum()
    rankings: dict[str, Callable[[Array], Array]] = {
        "probable words": lambda p: p,
        "typical words": lambda p: p * np.log(np.maximum(p / everywhere, 1)),
    }
    return {
        f"{choice}, {shown}".removeprefix(", "): _answer(corpus, topics, shares, choose, rank)
        for choice, choose in choices.items()
        for shown, rank in rankings.items()
    }


def _answer(
    corpus: Corpus, topics: Array, shares: Array, choose: Callable[[str], Any], rank: Callable[[Array], Array]
) -> Answer:
    def answer(word: str) -> Found:
        topic = choose(word)
        return Found(_top(corpus, rank(topics[topic])), lambda: shares[:, topic])

    return answer


def _top(corpus: Corpus, scores: Array) -> list[tuple[str, float]]:
    best = np.argsort(-scores, kind="stable")[:N_WORDS]
    return [(corpus.words[column], float(scores[column])) for column in best]


def _mean_beside(corpus: Corpus, column: Array) -> Array:
    """The mean counts of the documents that hold the word of a column."""
    return np.asarray(corpus.counts[np.flatnonzero(column)].mean(axis=0)).ravel()


def _columns(corpus: Corpus) -> dict[str, int]:
    return {word: column for column, word in enumerate(corpus.words)}


def _lengths(corpus: Corpus) -> Array:
    return np.maximum(np.asarray(corpus.counts.sum(axis=1)).ravel(), 1)


def measure(method: str, corpus: Corpus, k: int) -> tuple[dict[str, Any], dict[str, Array]]:
    """Fit and answer every word: what it cost and which words it gave; and, by rule, a score for every document."""
    start, wall = time.process_time(), time.perf_counter()
    fitted = METHODS[method](corpus, k)
    cost = {"fit_seconds": time.process_time() - start, "fit_wall_seconds": time.perf_counter() - wall}
    rules, documents = {}, {}
    for rule, answer in fitted.items():
        found = {word: answer(word) for word in corpus.asked}
        rules[rule] = {
            "word_seconds": np.mean([_best_time(answer, word) for word in found]),
            "words": {word: topic.words for word, topic in found.items()},
        }
        documents[rule] = np.array([topic.score_documents() for topic in found.values()], dtype=np.float64)
    return cost | {"peak_mb": peak_memory(), "rules": rules}, documents


def _best_time(answer: Answer, word: str, repeats: int = 3) -> float:
    """Return the shortest wall-clock time; processor time has coarse ticks."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        answer(word)
        times.append(time.perf_counter() - start)
    return min(times)


def peak_memory() -> float:
    """The most memory that this process ever held, in MB: Python, its packages and the data included."""
    status = Path("/proc/self/status")
    if status.exists():  # elsewhere the figure of `resource` may be that of the process that started this one
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 1024)


def main() -> None:
    """Measure one method in this process: name, corpus, k, and the file for the result, without its ending."""
    method, name, k, output = sys.argv[1:]
    resource.setrlimit(resource.RLIMIT_CPU, (LIMIT, LIMIT + 5))
    # This package and others start a thread for each core that they are told of.
    os.cpu_count = lambda: 1
    warnings.simplefilter("ignore")
    row, documents = measure(method, load_corpus(name), int(k))
    rules: dict[str, Any] = {f"rule {rule}": scores for rule, scores in documents.items()}
    np.savez(f"{output}.npz", **rules)
    Path(f"{output}.json").write_text(json.dumps(row), encoding="utf-8")


if __name__ == "__main__":
    main()
