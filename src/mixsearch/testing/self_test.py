"""The self-test of an installation: planted data of every kind, and whether the planted thing is found."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

import numpy as np


@dataclass(frozen=True, slots=True)
class SelfCheck:
    """One part of the package, and how to see that it works.

    Attributes
    ----------
    name : str
        What is checked.
    run : callable
        Raises an error if it does not work.
    packages : tuple of str
        Optional packages that it needs.
    extra : str
        The extra that brings them.
    """

    name: str
    run: Callable[[], None]
    packages: tuple[str, ...] = ()
    extra: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a check.

    Attributes
    ----------
    name : str
        What was checked.
    state : {"passed", "failed", "skipped"}
        Skipped if an optional package is not installed.
    note : str
        The error, or how to install what is missing.
    """

    name: str
    state: Literal["passed", "failed", "skipped"]
    note: str = ""


def run_self_test(
    on_outcome: Callable[[Outcome], None] = lambda _: None, checks: Sequence[SelfCheck] = ()
) -> list[Outcome]:
    """Search planted data with every family and every optional part that is installed."""
    outcomes = []
    for check in checks or CHECKS:
        outcomes.append(_run(check))
        on_outcome(outcomes[-1])
    return outcomes


def _run(check: SelfCheck) -> Outcome:
    if not all(map(find_spec, check.packages)):
        return Outcome(check.name, "skipped", f"pip install 'mixsearch[{check.extra}]'")
    try:
        check.run()
    except Exception as error:  # a broken installation can raise anything, and the other checks should still run
        return Outcome(check.name, "failed", f"{type(error).__name__}: {error}")
    return Outcome(check.name, "passed")


def _require(holds: bool, sentence: str) -> None:
    if not holds:
        raise RuntimeError(sentence)


def _find_gaussian() -> None:
    from mixsearch.datasets.mixtures import make_gaussian_mixture
    from mixsearch.gaussian import GaussianSearch

    data = make_gaussian_mixture(2_000, 20, 4, random_state=0)
    found = GaussianSearch(4).fit(data.X).search(examples=data.X[:1])
    distances = np.linalg.norm(data.centers - found.center, axis=1)
    _require(bool(distances.argmin() == data.labels[0]), "another component was found")
    _require(
        bool(distances.min() < 0.1 * np.linalg.norm(data.centers[0])), f"the center is off by {distances.min():.2g}"
    )


def _find_regression() -> None:
    from mixsearch.datasets.mixtures import make_mixed_regression
    from mixsearch.regression import RegressionSearch

    data = make_mixed_regression(20_000, 5, 2, random_state=0)
    known = np.flatnonzero(data.labels == 0)[:20]
    found = RegressionSearch(2).fit(data.X, data.y).search(examples=(data.X[known], data.y[known]), refine=True)
    error = np.linalg.norm(found.center - data.centers[0])
    _require(bool(error < 0.1), f"the coefficients are off by {error:.2g}")


def _find_subspace() -> None:
    from mixsearch.datasets.mixtures import make_subspaces
    from mixsearch.subspace import SubspaceSearch

    data = make_subspaces(3_000, 30, 3, dim=2, random_state=0)
    found = SubspaceSearch(3, dim=2).fit(data.X).search(data.X[0])
    right = np.mean((found.membership(data.X) > 0.5) == (data.labels == data.labels[0]))
    _require(bool(right > 0.9), f"{right:.0%} of the samples are assigned rightly")


def _find_community() -> None:
    from mixsearch.community import CommunitySearch
    from mixsearch.datasets.communities import make_communities

    data = make_communities(1_000, 3, mean_degree=20, signal=4.0, random_state=0)
    found = CommunitySearch(3).fit(data.adjacency).search(examples=data.known(1, 3))
    right = np.mean((found.membership > 0.5) == (data.labels == 1))
    _require(bool(right > 0.9), f"{right:.0%} of the nodes are assigned rightly")


def _find_topic() -> None:
    from mixsearch.datasets.reviews import make_reviews
    from mixsearch.topics import IndexOptions, build_index, open_index

    reviews = make_reviews(800, random_state=0)
    with TemporaryDirectory() as folder:
        build_index(reviews.text, Path(folder) / "reviews.index", IndexOptions(n_components=10))
        words = [word for word, _ in open_index(Path(folder) / "reviews.index").search("sushi").top_words(5)]
    _require("rice" in words and "nigiri" in words, f"the words are {', '.join(words)}")


def _find_rows() -> None:
    import mixsearch
    from mixsearch.datasets.mixtures import make_gaussian_mixture
    from mixsearch.metrics import average_precision

    data = make_gaussian_mixture(400, 6, 3, random_state=0)
    like = np.flatnonzero(data.labels == 1)[:3]
    precision = average_precision(data.labels == 1, mixsearch.find(data.X, examples=like).scores)
    _require(precision > 0.95, f"the average precision of the members is {precision:.2f}")


def _find_segments() -> None:
    import mixsearch
    from mixsearch.datasets.landscape import make_landscape

    scene = make_landscape(120, 180, random_state=0)
    right = np.mean(mixsearch.segment(scene.image, scene.seeds).labels == scene.segments)
    _require(bool(right > 0.9), f"{right:.0%} of the pixels are assigned rightly")


def _draw() -> None:
    from matplotlib.figure import Figure

    import mixsearch
    from mixsearch.show.plots import plot_members

    X = np.random.default_rng(0).normal(size=(60, 3))
    file, figure = io.BytesIO(), Figure()
    plot_members(mixsearch.find(X, examples=[0, 1, 2]), ax=figure.subplots())
    figure.savefig(file, format="png")
    _require(file.getvalue().startswith(b"\x89PNG"), "no PNG was written")


def _run_command() -> None:
    import subprocess
    import sys

    from mixsearch import __version__

    command = [sys.executable, "-m", "mixsearch", "--version"]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    _require(__version__ in printed, f"--version printed {printed!r}")


def _describe_server() -> None:
    from mixsearch.web.app import make_app

    paths = make_app({}).openapi()["paths"]
    _require("/api/indexes/{index}/topic" in paths, "the API has no topics")


def _write_parquet() -> None:
    from mixsearch.io.tables import read_table, write_table

    values = np.arange(6.0)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "table.parquet"
        write_table({"x": values, "y": values**2}, path)
        _require(read_table(path)["y"].to_list() == (values**2).tolist(), "the numbers differ")


def _fit_dask() -> None:
    import dask.array as da

    from mixsearch.datasets.mixtures import make_gaussian_mixture
    from mixsearch.gaussian import GaussianSearch

    data = make_gaussian_mixture(2_000, 10, 3, random_state=0)
    lazy = da.from_array(data.X, chunks=(500, 10))
    here, there = (GaussianSearch(3).fit(X).search(data.centers[0]).center for X in (data.X, lazy))
    _require(np.allclose(here, there, atol=1e-6), "the answer differs from that in memory")


def _list_checks() -> Iterator[SelfCheck]:
    yield SelfCheck("a Gaussian, from one sample", _find_gaussian)
    yield SelfCheck("a regression, from twenty samples", _find_regression)
    yield SelfCheck("a subspace, from one sample", _find_subspace)
    yield SelfCheck("a community, from three members", _find_community)
    yield SelfCheck("a topic, from one word", _find_topic)
    yield SelfCheck("rows of a table, from three rows", _find_rows)
    yield SelfCheck("segments of an image, from three pixels", _find_segments, ("skimage",), "cli")
    yield SelfCheck("plots", _draw, ("matplotlib",), "cli")
    yield SelfCheck("the command line", _run_command, ("typer", "rich"), "cli")
    yield SelfCheck("the server", _describe_server, ("fastapi", "uvicorn", "typer", "PIL"), "web")
    yield SelfCheck("Parquet files", _write_parquet)
    yield SelfCheck("Dask arrays", _fit_dask, ("dask", "distributed"), "dask")


CHECKS = tuple(_list_checks())
