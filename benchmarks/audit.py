"""The audit: how often intervals from judged rows hold the truth, and how narrow they are.

Every class of a labelled table, and every label of a corpus with a word for it, is searched; the score ranks all rows
but the examples. A judgement is the row's label, so the truth is known. Scores are good (PageRank from five examples;
cosine with the mean of the documents that contain the word, among 100 singular vectors), mediocre (the logarithm of the
good rank with normal noise of deviation 1) and random. A rare case is a good or mediocre one of which members were
removed at random until 0.5% remain. The list has as many rows as the word has documents or, in tables, the number of
members times a lognormal factor of deviation 0.7.

Two audits: all judgements at once, and twenty at a time. The other methods judge as many rows: a simple random sample,
and equally many rows of each stratum with a Beta(1/2, 1/2) for its share, as they are or sorted so that they fall.
"Ends" is the ratio of the upper and the lower end of the interval of the number of members, median; "within 2" the
share of cases in which the estimate is within a factor of two of the truth; "T < low" and "T > high" the shares of
misses to each side.
"""

from __future__ import annotations

import argparse
import zlib
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from corpora import Corpus, load_corpus
from labelled_tables import list_classes, load_tables
from measuring import print_table
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.preprocessing import normalize

from mixsearch import Audit
from mixsearch._typing import Array
from mixsearch.audit import AuditResult, Estimate
from mixsearch.graph.affinity import connect_neighbors
from mixsearch.graph.pagerank import PageRank
from mixsearch.table.encoding import TableEncoder

N_JUDGED = (20, 40, 80)
N_DRAWS = 2000
RARE = 0.005
# Choices were made on these; all others are for reporting.
DEVELOPMENT = ("newsgroups", "bbc", "reuters", "penguins", "olive-area", "olive-region", "glass", "ecoli", "vowel",
               "wine", "breast cancer", "ad-pendigits", "ad-annthyroid")  # fmt: skip
CORPORA = ("newsgroups", "bbc", "reuters", "dbpedia", "ohsumed", "stackoverflow")
HALVES = ("development", "reported")
MIN_ROWS, MAX_CASES = 20, 8  # of a class in a table; of one table or corpus


class Case(NamedTuple):
    """A ranking of rows of which all members are known."""

    source: str
    score: str  # "good", "mediocre", "random" or "rare"
    scores: Array
    is_member: Array
    n_listed: int


class Outcome(NamedTuple):
    """Whether the intervals of a method hold the truth, and how wide they are."""

    group: str
    method: str
    n_judged: int
    covers: tuple[bool, bool, bool]  # number, precision, recall
    misses: tuple[bool, bool]  # the truth is below, above the interval of the number
    ends: float
    is_close: bool


def list_cases(half: str, only: str = "") -> Iterator[Case]:
    def is_asked(name: str) -> bool:
        return only in name and (name in DEVELOPMENT) == (half == "development")

    for name, (table, labels) in load_tables():
        if is_asked(name):
            yield from _search_table(name, TableEncoder().fit_transform(table), labels)
    for name in filter(is_asked, CORPORA):
        yield from _search_corpus(load_corpus(name))


def _search_table(name: str, Z: Array, labels: Array) -> Iterator[Case]:
    pagerank = PageRank(connect_neighbors(Z, 10), 0.02)
    for label in list_classes(name, labels, MIN_ROWS)[:MAX_CASES]:
        rng, is_member = _seed(name, label), labels == label
        examples = rng.choice(np.flatnonzero(is_member), 5, replace=False)
        scores = pagerank.from_nodes(examples).sum(axis=1)
        others = np.setdiff1d(np.arange(len(Z)), examples)
        n_listed = is_member.sum() * np.exp(0.7 * rng.normal())
        yield from _vary(f"table {name}", scores[others], is_member[others], n_listed, rng)


def _search_corpus(corpus: Corpus) -> Iterator[Case]:
    tfidf = TfidfTransformer(sublinear_tf=True).fit_transform(corpus.counts)
    Y = normalize(TruncatedSVD(100, random_state=0).fit_transform(tfidf))
    first_words: dict[str, str] = {}
    for label, word in corpus.questions:
        first_words.setdefault(label, word)
    for label, word in list(first_words.items())[:MAX_CASES]:
        contains = np.asarray(corpus.counts[:, [corpus.words.index(word)]].todense()).ravel() > 0
        scores, is_member = Y @ (Y[contains].mean(axis=0) - Y.mean(axis=0)), corpus.has_label(label)
        yield from _vary(f"corpus {corpus.name}", scores, is_member, contains.sum(), _seed(corpus.name, label))


def _seed(*names: str) -> np.random.Generator:
    return np.random.default_rng(zlib.crc32("/".join(names).encode()))


def _vary(source: str, good: Array, is_member: Array, n_listed: float, rng: np.random.Generator) -> Iterator[Case]:
    """Yield the case with good, mediocre and random scores, and with few members."""
    mediocre = rng.normal(size=len(good)) - np.log1p(np.argsort(np.argsort(-good)))
    n = int(np.clip(n_listed, 3, len(good)))
    scores = {"good": good, "mediocre": mediocre, "random": rng.random(len(good))}
    for score, values in scores.items():
        yield Case(source, score, values, is_member, n)
    members, n_rare = np.flatnonzero(is_member), round(RARE * (~is_member).sum())
    if 8 <= n_rare < len(members):
        kept = np.ones(len(good), dtype=bool)
        kept[rng.permutation(members)[n_rare:]] = False
        values = scores[("good", "mediocre")[int(rng.integers(2))]]
        yield Case(source, "rare", values[kept], is_member[kept], max(round(n * n_rare / len(members)), 3))


def judge_at_once(case: Case, n_judged: int, n_each: int = 0) -> AuditResult:
    """Audit a case with all judgements at once, or `n_each` at a time."""
    audit = Audit(case.scores, case.n_listed)
    sizes = [n_each] * (n_judged // n_each) if n_each else [n_judged]
    for n in sizes:
        result = audit.judge({int(row): bool(case.is_member[row]) for row in audit.draw(n)})
    return result


Intervals = tuple[Estimate, Estimate, Estimate]  # number, precision, recall


def judge_random_rows(case: Case, n_judged: int, rng: np.random.Generator) -> Intervals:
    """Judge a simple random sample, with a Beta(1/2, 1/2) each for the rows in the list and the others."""
    order = np.argsort(-case.scores, kind="stable")
    drawn = rng.choice(len(order), n_judged, replace=False)
    ends = np.array([case.n_listed, len(order)]) if case.n_listed < len(order) else np.array([len(order)])
    return _estimate_strata(case, order, ends, drawn, rng, falls=False)


def judge_strata(case: Case, n_judged: int, rng: np.random.Generator, *, falls: bool) -> Intervals:
    """Judge equally many rows of strata that end at 1/2, 1, 2, 4 and 16 times the length of the list."""
    order = np.argsort(-case.scores, kind="stable")
    ends = np.unique(np.minimum((case.n_listed * np.array([0.5, 1, 2, 4, 16, np.inf])), len(order)).astype(int))
    starts, left, drawn = np.r_[0, ends[:-1]], n_judged, []
    for place in np.argsort(ends - starts):  # small strata may have fewer rows than their part
        n = min(left // (len(ends) - len(drawn)), ends[place] - starts[place])
        drawn.append(rng.choice(np.arange(starts[place], ends[place]), n, replace=False))
        left -= n
    return _estimate_strata(case, order, ends, np.concatenate(drawn), rng, falls=falls)


def _estimate_strata(
    case: Case, order: Array, ends: Array, drawn: Array, rng: np.random.Generator, *, falls: bool
) -> Intervals:
    """Estimate from judged ranks, with independent shares in strata."""
    stratum, label = np.searchsorted(ends, drawn, side="right"), case.is_member[order[drawn]]
    yes, n = np.bincount(stratum[label], minlength=len(ends)), np.bincount(stratum, minlength=len(ends))
    shares = rng.beta(yes + 0.5, n - yes + 0.5, size=(N_DRAWS, len(ends)))
    if falls:
        shares = -np.sort(-shares, axis=1)
    members = yes + rng.binomial(np.diff(ends, prepend=0) - n, shares)
    listed = members[:, ends <= case.n_listed].sum(axis=1)
    total = members.sum(axis=1)
    quantities = (total, listed / case.n_listed, listed / np.maximum(total, 1))
    number, precision, recall = (
        Estimate(*np.quantile(draws, [0.5, 0.025, 0.975], method="nearest")) for draws in quantities
    )
    return number, precision, recall


def _audit_as(n_each: int) -> Callable[[Case, int, np.random.Generator], Intervals]:
    def judge(case: Case, n_judged: int, rng: np.random.Generator) -> Intervals:
        result = judge_at_once(case, n_judged, n_each)
        return result.n_members, result.precision, result.recall

    return judge


METHODS: dict[str, Callable[[Case, int, np.random.Generator], Intervals]] = {
    "random rows": judge_random_rows,
    "strata": lambda case, n, rng: judge_strata(case, n, rng, falls=False),
    "strata, shares fall": lambda case, n, rng: judge_strata(case, n, rng, falls=True),
    "audit, all at once": _audit_as(0),
    "audit, 20 at a time": _audit_as(20),
}


def compare(case: Case) -> Iterator[Outcome]:
    """Audit one case by every method."""
    order = np.argsort(-case.scores, kind="stable")
    n_hits, n_members = int(case.is_member[order[: case.n_listed]].sum()), int(case.is_member.sum())
    truths = (n_members, n_hits / case.n_listed, n_hits / n_members)
    kind = case.source.partition(" ")[0]
    for n_judged in N_JUDGED:
        if n_judged > len(order) / 2:
            continue
        for method, judge in METHODS.items():
            if n_judged == 20 and method == "audit, 20 at a time":
                continue
            intervals = judge(case, n_judged, np.random.default_rng(n_judged))
            number, _, _ = intervals
            covers = [
                low - 1e-9 <= truth <= high + 1e-9 for truth, (_, low, high) in zip(truths, intervals, strict=True)
            ]
            yield Outcome(
                f"{kind}, {case.score}",
                method,
                n_judged,
                (covers[0], covers[1], covers[2]),
                (n_members < number.low, n_members > number.high),
                max(number.high, 1) / max(number.low, 1),
                n_members / 2 <= number.estimate <= 2 * n_members,
            )


def run(*, quick: bool = False, only: str = "", half: str = "") -> None:
    for title in [half] if half else HALVES:
        cases = list(list_cases(title, only))
        outcomes = [outcome for case in cases[:: 7 if quick else 1] for outcome in compare(case)]
        for n_judged in N_JUDGED:
            _print(f"{n_judged} judged, {title} data", [each for each in outcomes if each.n_judged == n_judged])


def _print(title: str, outcomes: list[Outcome]) -> None:
    groups = ["all", *dict.fromkeys(each.group for each in outcomes)]
    rows = []
    for group in groups:
        for method in METHODS:
            some = [each for each in outcomes if each.method == method and group in ("all", each.group)]
            if some:
                covers, misses = (
                    np.mean([getattr(each, name) for each in some], axis=0) for name in ("covers", "misses")
                )
                ends, close = np.median([each.ends for each in some]), np.mean([each.is_close for each in some])
                cells = [f"{each:.3f}" for each in covers] + [f"{each:.3f}" for each in misses]
                rows.append((f"{group} ({len(some)})", method, *cells, f"{ends:.1f}", f"{close:.2f}"))
    header = ("cases", "method", "number", "precision", "recall", "T < low", "T > high", "ends", "within 2")
    print_table(title, header, rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a seventh of the cases")
    parser.add_argument("--only", default="", help="tables and corpora whose names contain this")
    parser.add_argument("--half", default="", choices=["", *HALVES], help="development or reported data alone")
    arguments = parser.parse_args()
    run(quick=arguments.quick, only=arguments.only, half=arguments.half)
