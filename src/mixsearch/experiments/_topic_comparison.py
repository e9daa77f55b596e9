"""Figure and tables of the topics of real text: which method is best for each labeled word, and which is fastest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from mixsearch.experiments._corpora import SOURCES
from mixsearch.experiments._figures import add_shared_legend, choose_color, new_figure, style_axes
from mixsearch.experiments._rows import Rows
from mixsearch.experiments._tables import format_markdown, format_mean
from mixsearch.plots import TEXT_COLOR

WHITENING, MOMENTS, PAPERS = "whitening", "whitening, moments alone", "whitening, paper's choices"
AUTHORS = "whitening, authors' choices"
NMF, PUBLISHED, SS_NMF, LIFT = "NMF", "NMF, published solver", "SS-NMF", "lift"
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
SCORED = (WHITENING, MOMENTS, PAPERS, AUTHORS, NMF, SS_NMF, LIFT)
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
