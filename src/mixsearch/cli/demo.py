"""`mixsearch demo`: a topic, rows of a table and a segment of an image on this computer, and files to try."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any

import numpy as np
import scipy.sparse as sp
import sklearn.datasets
import typer
from rich.text import Text

from mixsearch.cli import console
from mixsearch.cli.find import print_members
from mixsearch.cli.queries import read_questions
from mixsearch.cli.topic import print_answers
from mixsearch.datasets import make_communities, make_reviews
from mixsearch.datasets.docstrings import load_docstrings
from mixsearch.errors import Option, SearchError
from mixsearch.image.files import make_pillow_image
from mixsearch.image.reading import read_image
from mixsearch.image.segment import segment
from mixsearch.io.tables import write_table
from mixsearch.table.search import TableSearch
from mixsearch.text.options import CorpusOptions
from mixsearch.topics.answers import answer_questions, describe_topic
from mixsearch.topics.build import IndexOptions, build_index
from mixsearch.topics.index import TopicIndex, open_index

HELP = """Indexes the docstrings of the Python packages on this computer and finds the
topics of some words; finds the wines of one grower from three of them, in a
table, and a flower in a photo, which come with scikit-learn. The files are
written to a folder, with more of them to try. Nothing is downloaded.

Examples:

  mixsearch demo
  mixsearch demo thread spline "random seed" --output try"""

DEFAULT_WORDS = ("socket", "email", "fourier")
WINES = (0, 10, 20)
SEEDS = {"flower": (300, 150), "leaves": (60, 200)}


def demo(
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="WORD", help=f"Words to find topics for. Default: {', '.join(DEFAULT_WORDS)}."),
    ] = None,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FOLDER", help="Folder for the files; created if missing.")
    ] = Path("mixsearch-demo"),
    packages: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES",
            help="Read only these packages, separated by commas: email,http,logging. Default: the standard library "
            "and the scientific packages.",
        ),
    ] = None,
) -> None:
    """Find a topic, rows and a segment on this computer."""
    with console.report_errors():
        try:
            output.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise SearchError(
                "Cannot create the folder '{path}': {reason}. Choose another with {argument}.",
                code="cannot_write",
                path=str(output),
                reason=error.strerror or str(error),
                argument=Option("output"),
            ) from error
        try:
            _run(output, words or DEFAULT_WORDS, packages.replace(",", " ").split() if packages else None)
        finally:
            with suppress(OSError):  # it is not empty
                output.rmdir()


def _run(folder: Path, words: Sequence[str], packages: Sequence[str] | None) -> None:
    show_topics(folder, words, packages)
    show_rows(folder)
    show_segment(folder)
    make_reviews(3_000, random_state=0).to_csv(folder / "reviews.csv")
    links = sp.triu(make_communities(1_000, 4, mean_degree=12, signal=3, random_state=0).adjacency).tocoo()
    write_table({"source": links.row, "target": links.col}, folder / "links.csv")
    _print_heading("Try yourself")
    seeds = " ".join(f"--seed {name}={x},{y}" for name, (x, y) in SEEDS.items())
    _print(f"{name_program()} topic {folder / 'docstrings.index'} thread")
    _print(f"{name_program()} find {folder / 'wine.csv'} --examples 60,70,80")
    _print(f"{name_program()} segment {folder / 'flower.jpg'} {seeds} --cut-outs {folder / 'cut-outs'}")


def show_topics(folder: Path, words: Sequence[str], packages: Sequence[str] | None) -> None:
    """Index docstrings, and print the topics of words."""
    _print_heading("Topics in the docstrings on this computer, one for each word")
    index = open_index(index_docstrings(folder, packages))
    with console.record_warnings():
        answers, seconds = _measure(lambda: answer_questions(index, read_questions(words, each=True)))
    for answer in answers:
        if answer.error is not None:
            console.print_error(str(answer.error))
    found = [answer for answer in answers if answer.topic is not None]
    if not found:
        raise SearchError("None of the words occurs in the docstrings. Try another word.", code="unknown_word")
    _print(f"{index.n_documents:,} docstrings; all words took {1000 * seconds:,.0f} ms.\n")
    print_answers([_describe(index, answer) for answer in found])


def _describe(index: TopicIndex, answer: Any) -> dict[str, Any]:
    return describe_topic(index, answer.topic, name=answer.question.name, n_documents=3)


def index_docstrings(folder: Path, packages: Sequence[str] | None = None) -> Path:
    """Index the docstrings of the installed packages in a folder, and return the path of the index."""
    texts = folder / "docstrings.jsonl"
    with console.show_progress() as on_progress:
        corpus = load_docstrings(packages, on_progress=lambda n, total: on_progress("Reading files", n, total, "files"))
        with texts.open("w", encoding="utf-8") as out:
            rows = zip(corpus.names, corpus.texts, strict=True)
            out.writelines(json.dumps({"name": name, "text": text}) + "\n" for name, text in rows)
        reading, options = CorpusOptions(text="text", id="name"), IndexOptions(overwrite=True)
        return build_index(texts, folder / "docstrings.index", options, reading, on_progress=on_progress).path


def show_rows(folder: Path) -> None:
    """Find the wines of one grower from three of them, and print how many of the members are."""
    _print_heading(f"Wines like those in rows {', '.join(map(str, WINES))} of 178, by their chemistry")
    wines = sklearn.datasets.load_wine()
    table = dict(zip(wines.feature_names, wines.data.T, strict=True))
    write_table(table, folder / "wine.csv")
    found = TableSearch().fit(table).search(WINES)
    print_members(found)
    best, is_grower = np.argsort(-found.scores)[: found.n_members], wines.target == wines.target[WINES[0]]
    _print(
        f"\nThe three are of one grower, which the table does not tell. He has {np.sum(is_grower)} of the wines: "
        f"{np.sum(is_grower[best])} of the {len(best)} found."
    )


def show_segment(folder: Path) -> None:
    """Segment a photo by two clicks, and print the share of each segment."""
    _print_heading("A flower in a photo, from one pixel of it and one of the leaves")
    photo = folder / "flower.jpg"
    shutil.copyfile(Path(sklearn.datasets.__file__).parent / "images" / "flower.jpg", photo)
    found, seconds = _measure(lambda: segment(read_image(photo), {name: [pixel] for name, pixel in SEEDS.items()}))
    make_pillow_image(found.overlay()).save(folder / "segments.png")
    shares = zip(found.names, found.sizes / found.sizes.sum(), strict=True)
    listed = ", ".join(f"{name} {share:.0%}" for name, share in shares)
    _print(f"{listed}, in {seconds:.1f} s. Look at {folder / 'segments.png'}.")


def _print_heading(text: str) -> None:
    console.stdout_console().print(Text(f"\n{text}\n", style="bold underline"))


def _print(text: str) -> None:
    console.stdout_console().print(text, markup=False, soft_wrap=True)


def name_program() -> str:
    """Return the name of this program, or its path if the shell would not find it."""
    if shutil.which("mixsearch"):
        return "mixsearch"
    return f"{sys.executable} -m mixsearch" if sys.argv[0].endswith("__main__.py") else sys.argv[0]


def _measure(work: Callable[[], Any]) -> tuple[Any, float]:
    start = perf_counter()
    return work(), perf_counter() - start
