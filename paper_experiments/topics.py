"""Topics of real text from the paper's labeled words: whitening compared with anchor words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from time import perf_counter
from typing import Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from mixsearch import LdaSearch, Topic, TopicSearch
from mixsearch._typing import Array
from mixsearch.show.plots import TEXT_COLOR
from mixsearch.topics.score import top_rows
from paper_experiments.baselines import AnchorWords, compute_word_frequencies, seeded_lda
from paper_experiments.corpora import ARTICLES, SOURCES, TextCorpus, available, load_text
from paper_experiments.experiment import Case, Experiment, Result, Rows
from paper_experiments.figures import (
    T,
    add_shared_legend,
    choose_color,
    format_markdown,
    format_mean,
    new_figure,
    style_axes,
    time_call,
)

WHITENING, MOMENTS, PAPERS = "whitening", "whitening, moments alone", "whitening, paper's choices"
AUTHORS = "whitening, authors' choices"
NMF, PUBLISHED, SS_NMF, SEEDED, LIFT = "NMF", "NMF, published solver", "SS-NMF", "seeded LDA", "lift"
# The method of rows with the size of a corpus.
CORPUS = "corpus"
# Of the topic's words with the labeled word, as the paper defines its score and as its authors compute it; and of the
# topic's words with each other.
PMI, PMI_TYPICAL, NPMI, COHERENCE = "PMI", "PMI of typical words", "NPMI", "NPMI of all pairs"
# The three methods of the paper, with our options and with its own.
OURS, THEIRS = (WHITENING, NMF, SS_NMF), (PAPERS, NMF, SS_NMF)
CHOICES = {
    OURS: "our choices",
    (MOMENTS, NMF, SS_NMF): "our moments alone",
    THEIRS: "the paper's choices",
    (AUTHORS, NMF, SS_NMF): "the authors' choices",
}
SCORED = (WHITENING, MOMENTS, PAPERS, AUTHORS, NMF, SS_NMF, SEEDED, LIFT)
TIMED = (WHITENING, MOMENTS, PAPERS, AUTHORS, NMF, PUBLISHED, SS_NMF)
DRAWN = (WHITENING, NMF, PUBLISHED, SS_NMF)
# How often each of the three was best in the paper's tables.
PAPERS_COUNTS = {"paper: NY Times": (40, 6, 16), "paper: Yelp": (35, 12, 7)}


def count_best(rows: Rows, methods: Sequence[str], metric: str = PMI) -> list[int]:
    """Count the labeled words for which each method is best, among the words that all methods have."""
    scores = [{row.target: row.value for row in rows.where(method=method, metric=metric)} for method in methods]
    shared = [word for word in scores[0] if all(word in each for each in scores)]
    best = [int(np.argmax([each[word] for each in scores])) for word in shared]
    return [best.count(index) for index in range(len(methods))]


def sum_seconds(rows: Rows, method: str) -> float:
    """Return the seconds of the fit and all labeled words; NaN if the method was not run."""
    times, n_words = rows.where(method=method, metric="seconds"), len(rows.where(method=WHITENING, metric=PMI))
    if method == SS_NMF:  # one fit per word, and a quick run has only some words
        return times.mean * n_words
    return float(times.values.sum()) if len(times) else float("nan")


def draw_comparison(rows: Rows, title: str) -> Figure:
    """Draw the shares of labeled words with the best PMI and NPMI, with our options and the paper's, and times."""
    figure = new_figure(title, 2, 3, (4.4, 2.9))
    panels = figure.subplot_mosaic(
        [[f"{PMI} ours", f"{PMI} theirs", "times"], [f"{NPMI} ours", f"{NPMI} theirs", "times"]]
    )
    corpora = rows.levels("corpus")
    for metric, (whose, methods) in product((PMI, NPMI), (("ours", OURS), ("theirs", THEIRS))):
        axes = panels[f"{metric} {whose}"]
        counts = {_title(corpus): count_best(rows.where(corpus=corpus), methods, metric) for corpus in corpora}
        _draw_shares(axes, counts | {name: list(found) for name, found in PAPERS_COUNTS.items()})
        style_axes(axes, f"best {metric}, whitening by {CHOICES[methods]}", "share of labeled words, %")
    add_shared_legend(figure, [panels[f"{PMI} ours"]], n_columns=3)
    _draw_times(panels["times"], rows)
    style_axes(panels["times"], "time for the fit and all labeled words", "seconds")
    for axes in panels.values():
        axes.grid(visible=False, axis="y")
        axes.invert_yaxis()
    return figure


def _title(corpus: str) -> str:
    return SOURCES[corpus].title


def _draw_shares(axes: Axes, counts: dict[str, list[int]]) -> None:
    """Draw a stacked bar for each corpus, with counts."""
    for index, method in enumerate(OURS):
        for line, found in enumerate(counts.values()):
            share, before = (100 * part / max(sum(found), 1) for part in (found[index], sum(found[:index])))
            label = method if line == 0 else None
            axes.barh(line, share, left=before, color=choose_color(method), label=label, linewidth=0)
            if found[index]:
                axes.text(before + share / 2, line, str(found[index]), ha="center", va="center", color="w", fontsize=8)
    axes.set_yticks(range(len(counts)), list(counts))
    axes.set_xlim(0, 100)


def _draw_times(axes: Axes, rows: Rows) -> None:
    """Draw times on a logarithmic scale, with their ratios to whitening."""
    corpora, width = rows.levels("corpus"), 0.84 / len(DRAWN)
    for line, corpus in enumerate(corpora):
        part = rows.where(corpus=corpus)
        ours = sum_seconds(part, WHITENING)
        for index, method in enumerate(DRAWN):
            seconds, height = sum_seconds(part, method), line - 0.42 + (index + 0.5) * width
            axes.barh(height, seconds, width, color=choose_color(method), alpha=0.6 if method == PUBLISHED else 1.0)
            label = f" {method}" if method == WHITENING else f" {method}: {seconds / ours:.2g}×"
            if seconds == seconds:
                axes.text(seconds, height, label, va="center", fontsize=7, color=TEXT_COLOR)
    axes.set_xscale("log")
    axes.set_yticks(range(len(corpora)), [_title(corpus) for corpus in corpora])
    low, high = axes.get_xlim()
    axes.set_xlim(low, high * 60)  # room for the labels


def format_topics(rows: Rows) -> str:
    """Format how often each method is best, mean scores, times, and the topics of every labeled word."""
    parts = [("Corpora", _format_corpora(rows)), ("Best of three", _format_counts(rows))]
    parts += [("Mean scores", _format_scores(rows))]
    parts += [("Seconds for the fit and all labeled words", _format_times(rows))]
    parts += [(_title(corpus), _format_words(rows.where(corpus=corpus))) for corpus in rows.levels("corpus")]
    return "\n".join(f"**{name}**\n\n{table}" for name, table in parts)


def format_summary(rows: Rows) -> str:
    """Format for how many words whitening is the best of three, the mean scores and the times."""
    lines = []
    for corpus in rows.levels("corpus"):
        part = rows.where(corpus=corpus)
        counts = [count_best(part, methods, metric) for methods, metric in product(CHOICES, (PMI, NPMI))]
        cells = (f"{found[0]} ({found[0] / max(sum(found), 1):.0%})" for found in counts)
        lines.append([_title(corpus), str(sum(counts[0])), *cells])
    columns = [f"{choice}, {metric}" for choice, metric in product(CHOICES.values(), (PMI, NPMI))]
    best = format_markdown(["corpus", "words", *columns], lines)
    parts = [("Words for which whitening is best", best), ("Mean scores", _format_scores(rows))]
    parts += [("Seconds for the fit and all labeled words", _format_times(rows))]
    return "\n".join(f"**{name}**\n\n{table}" for name, table in parts)


def _format_corpora(rows: Rows) -> str:
    lines = []
    for corpus in rows.levels("corpus"):
        part = rows.where(corpus=corpus)
        sizes = (f"{part.where(method=CORPUS, metric=metric).mean:,.0f}" for metric in ("documents", "words"))
        n_labeled = len(part.where(method=WHITENING, metric=PMI))
        lines.append([_title(corpus), *sizes, f"{n_labeled} of {len(SOURCES[corpus].queries)}"])
    return format_markdown(["corpus", "documents", "words", "labeled words in use"], lines)


def _format_counts(rows: Rows) -> str:
    lines = []
    for corpus, (methods, choices), metric in product(rows.levels("corpus"), CHOICES.items(), (PMI, PMI_TYPICAL, NPMI)):
        counts = count_best(rows.where(corpus=corpus), methods, metric)
        shares = (f"{count} ({count / max(sum(counts), 1):.0%})" for count in counts)
        lines.append([_title(corpus), choices, metric, str(sum(counts)), *shares])
    return format_markdown(["corpus", "whitening by", "score", "words", *OURS], lines)


def _format_scores(rows: Rows) -> str:
    """Format means over the words of SS-NMF, which are all words unless the run was quick."""
    lines = []
    for corpus, metric in product(rows.levels("corpus"), (PMI, PMI_TYPICAL, NPMI, COHERENCE)):
        part = rows.where(corpus=corpus, metric=metric)
        words = part.where(method=SS_NMF).levels("target")
        shared = Rows(row for row in part if row.target in words)
        lines.append([_title(corpus), metric, *(format_mean(shared.where(method=method)) for method in SCORED)])
    return format_markdown(["corpus", "score", *SCORED], lines)


def _format_times(rows: Rows) -> str:
    lines = []
    for corpus in rows.levels("corpus"):
        part = rows.where(corpus=corpus)
        times = {method: sum_seconds(part, method) for method in TIMED}
        cells = (f"{spent:.3g} ({spent / times[WHITENING]:.2g}×)" if spent == spent else "" for spent in times.values())
        lines.append([_title(corpus), *cells])
    return format_markdown(["corpus", *TIMED], lines)


def _format_words(rows: Rows) -> str:
    """Format five words and the PMI of each method's topic, the best of the three in bold."""
    scored = rows.where(metric=PMI)
    shown = (WHITENING, PAPERS, NMF, SS_NMF)
    lines = [[word, *_cells(scored.where(target=word), shown)] for word in scored.levels("target")]
    return format_markdown(["labeled word", *shown], lines)


def _cells(rows: Rows, methods: Sequence[str]) -> Iterator[str]:
    best = max(row.value for row in rows if row.method in OURS)
    for method in methods:
        for row in rows.where(method=method):
            score = f"{row.value:.2f}"
            yield f"{row.note} {f'**{score}**' if method in OURS and row.value == best else score}"
        if not len(rows.where(method=method)):
            yield ""


K = 100
# Words of a topic that are scored against the labeled word, against each other, and shown.
N_SCORED, N_COHERENT, N_SHOWN = 20, 10, 5
# The authors' programs take the top singular vector, and fit to this share of the documents.
TRAIN_SHARE = 0.9
# Anchors occur in at least this many documents, as in the original code; with a labeled word, in a tenth of the
# documents that contain it, within these bounds.
MAX_ANCHOR_DOCUMENTS, MIN_ANCHOR_DOCUMENTS, ANCHOR_SHARE = 100, 5, 10
# Calls are timed this often and the shortest time counts; once if they take longer than these seconds.
N_RUNS, LONG_RUN = 3, 5.0
# The labeled words of semi-supervised recovery are split into parts; a quick run takes one of fewer.
N_PARTS, N_QUICK_PARTS = 8, 4

SEARCH = "search"
# The topics of the labeled words, (d,) each.
Topics = Mapping[str, Array]


def make_corpus_cases(quick: bool) -> list[Case]:
    """Return the cases: searches and anchor words of every corpus, then parts of semi-supervised anchor words."""
    corpora = [corpus for corpus in available() if not (quick and SOURCES[corpus].is_large)] or available()
    fractions = [f"1/{N_QUICK_PARTS}"] if quick else [f"{part + 1}/{N_PARTS}" for part in range(N_PARTS)]
    parts = [
        SEARCH,
        NMF,
        PUBLISHED,
        *(f"{SS_NMF} {fraction}" for fraction in fractions),
    ]
    cases = [Case({"corpus": corpus, "part": part}, 0) for corpus in corpora for part in parts]
    # A sampler visits every word many times.
    return cases + [Case({"corpus": name, "part": SEEDED}, 0) for name in corpora if not SOURCES[name].is_large]


def run_part(case: Case) -> Iterator[Result]:
    """Run the methods of one part on one corpus."""
    corpus, part = load_text(str(case.setting["corpus"])), str(case.setting["part"])
    if part == SEARCH:
        yield from _search(corpus)
    elif part == NMF:
        yield from _anchor_words(corpus, NMF, "admm")
    elif part == PUBLISHED:
        yield from _anchor_words(corpus, PUBLISHED, "exponentiated")
    elif part == SEEDED:
        columns = list(corpus.labeled.values())
        topics = seeded_lda(corpus.counts, max(K, len(columns)), columns)
        yield from _judge(corpus, SEEDED, dict(zip(corpus.labeled, topics, strict=False)))
    else:
        yield from _semi_supervised(corpus, *map(int, part.removeprefix(SS_NMF).split("/")))


def _search(corpus: TextCorpus) -> Iterator[Result]:
    n, d = corpus.counts.shape
    yield Result(CORPUS, "documents", n)
    yield Result(CORPUS, "words", d)
    yield from _whitening(corpus, WHITENING, TopicSearch(K))
    yield from _whitening(corpus, MOMENTS, LdaSearch(K))
    yield from _whitening(corpus, PAPERS, LdaSearch(K, preset="paper"))
    train = np.sort(np.random.default_rng(0).choice(n, round(TRAIN_SHARE * n), replace=False))
    yield from _whitening(corpus, AUTHORS, LdaSearch(K, preset="paper"), train)
    for word, column in corpus.labeled.items():
        yield from _scores(corpus, LIFT, word, (lift := _lift(corpus, column)), lift)


def _whitening(
    corpus: TextCorpus, method: str, search: LdaSearch | TopicSearch, rows: Array | None = None
) -> Iterator[Result]:
    """Fit once, to all documents or to some rows, and search for the labeled words."""
    counts = corpus.counts if rows is None else corpus.counts[rows]

    def answer() -> Topics:
        found = [search.search(words=word) for word in corpus.labeled]
        if method == AUTHORS:
            found = [max((each, *each.alternatives), key=lambda topic: abs(topic.score)) for each in found]
        components = [topic.component if isinstance(topic, Topic) else topic for topic in found]
        return {word: component.probabilities for word, component in zip(corpus.labeled, components, strict=True)}

    _, fit_seconds = _shortest(lambda: search.fit(counts, vocabulary=corpus.words))
    topics, seconds = _shortest(answer)
    yield Result(method, "seconds", fit_seconds, target="fit")
    yield Result(method, "seconds", seconds, target="words")
    yield from _judge(corpus, method, topics)


def _anchor_words(corpus: TextCorpus, method: str, solver: Literal["admm", "exponentiated"]) -> Iterator[Result]:
    counts = corpus.counts.astype(np.float32)  # as in the search

    def fit() -> AnchorWords:
        return AnchorWords(K, solver=solver, min_documents=MAX_ANCHOR_DOCUMENTS, max_iter=20_000).fit(counts)

    model, seconds = _shortest(fit)
    yield Result(method, "seconds", seconds, target="fit")
    yield Result(method, "steps", model.n_iter_)
    yield Result(method, "gap", float(model.gaps_.max()))
    topics = {word: model.find_component(column).center for word, column in corpus.labeled.items()}
    yield from _judge(corpus, method, topics)


def _semi_supervised(corpus: TextCorpus, part: int, n_parts: int) -> Iterator[Result]:
    counts = corpus.counts.astype(np.float32)
    for word, column in list(corpus.labeled.items())[part - 1 :: n_parts]:

        def recover(column: int = column) -> Array:
            weights = compute_word_frequencies(counts, column)
            n_documents = int(np.count_nonzero(weights))
            min_documents = int(np.clip(n_documents // ANCHOR_SHARE, MIN_ANCHOR_DOCUMENTS, MAX_ANCHOR_DOCUMENTS))
            model = AnchorWords(K, min_documents=min_documents).fit(counts, document_weights=weights)
            return model.find_component(column).center

        topic, seconds = time_call(recover, clock=perf_counter)
        yield Result(SS_NMF, "seconds", seconds, target=word)
        yield from _judge(corpus, SS_NMF, {word: topic})


def _shortest(work: Callable[[], T]) -> tuple[T, float]:
    done, shortest = time_call(work, clock=perf_counter)
    for _ in range(N_RUNS - 1 if shortest < LONG_RUN else 0):
        shortest = min(shortest, time_call(work, clock=perf_counter)[1])
    return done, shortest


def _judge(corpus: TextCorpus, method: str, topics: Topics) -> Iterator[Result]:
    for word, topic in topics.items():
        yield from _scores(corpus, method, word, topic, compute_typicality(topic, corpus.frequencies))


def compute_typicality(topic: Array, frequencies: Array) -> Array:
    """Return p log(p/q), the contribution of each word to the divergence of a topic p from the corpus q, (d,)."""
    seen = topic > 0
    ratio = np.divide(topic, frequencies, out=np.ones_like(topic), where=seen)
    return topic * np.log(ratio)


def _lift(corpus: TextCorpus, column: int) -> Array:
    """Return the typicality of words in the documents that contain the labeled word, without a model."""
    counts = np.asarray(
        corpus.counts[np.flatnonzero(compute_word_frequencies(corpus.counts, column))].sum(axis=0), dtype=float
    )
    return compute_typicality(counts / counts.sum(), corpus.frequencies)


def _scores(corpus: TextCorpus, method: str, word: str, likely: Array, typical: Array) -> Iterator[Result]:
    """Score a topic with its words ranked by probability, as in the paper, and by typicality."""
    likeliest, typical_words = (corpus.names(top_rows(ranks, N_SCORED)) for ranks in (likely, typical))
    score, shown = corpus.reference.pmi, ", ".join(likeliest[:N_SHOWN])
    yield Result(method, PMI, score(word, likeliest), target=word, note=shown)
    yield Result(method, NPMI, corpus.reference.npmi_with(word, likeliest), target=word)
    yield Result(method, PMI_TYPICAL, score(word, typical_words), target=word, note=", ".join(typical_words[:N_SHOWN]))
    yield Result(method, COHERENCE, corpus.reference.npmi(likeliest[:N_COHERENT]), target=word)


COMPARISON: Experiment = Experiment(
    name="topics-text",
    shows="Figure 7, Tables 2 and 3",
    title=f"Topics of real text from labeled words, k={K}",
    claim="Whitening has the best PMI for 40 of 62 words in the New York Times and 35 of 54 in Yelp's reviews, and is "
    "more than twice as fast as NMF and SS-NMF.",
    cases=make_corpus_cases,
    run=run_part,
    draw=lambda rows: draw_comparison(rows, COMPARISON.title),
    table=format_topics,
    page=format_summary,
    seconds=(450, 150),
    sequential=True,
    required_files=(ARTICLES, "text/*.gz"),
)
