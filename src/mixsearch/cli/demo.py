"""`mixsearch demo`: commands on real data that every computer has, and files to try others on."""

from __future__ import annotations

import json
import shlex
import shutil
import sys
from pathlib import Path
from typing import Annotated

import polars as pl
import scipy.sparse as sp
import sklearn.datasets
import typer
from rich.text import Text

from mixsearch.cli import console
from mixsearch.cli.app import load_command
from mixsearch.cli.options import JsonOption
from mixsearch.datasets import make_communities, make_reviews
from mixsearch.datasets.docstrings import load_docstrings
from mixsearch.io.tables import read_table, write_table
from mixsearch.text.options import CorpusOptions
from mixsearch.topics.build import IndexOptions, build_index

HELP = """Indexes the docstrings of the Python packages on this computer and finds the
topics of some words; finds the wines of one grape from three of them, in a
table, and a flower in a photo, which come with scikit-learn. The files are
written to a folder, with more of them to try. Nothing is downloaded.

Examples:

  mixsearch demo
  mixsearch demo thread spline "random seed" --output try

--json writes the files, runs no command, and prints an object: folder, files,
commands."""

DEFAULT_WORDS = ("socket", "email", "fourier")
WINES, SEEDS = "0,10,20", ("--seed", "flower=300,150", "--seed", "leaves=60,200")


def demo(
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="WORD", help=f"Words to find topics for. Default: {', '.join(DEFAULT_WORDS)}."),
    ] = None,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FOLDER", help="Folder for the files; created if missing.")
    ] = Path("mixsearch-demo"),
    as_json: JsonOption = False,
) -> None:
    write_files(output)
    index, table, photo = (str(output / name) for name in ("docstrings.index", "wine.csv", "flower.jpg"))
    texts, members, overlay = (str(output / name) for name in ("docstrings.jsonl", "members.csv", "segments.png"))
    shown = {
        "The docstrings on this computer": ["index", texts, "--text", "text", "--id", "name", "-o", index],
        "A topic for each word": ["topic", index, *(words or DEFAULT_WORDS), "--each", "-n", "3"],
        "Wines like three of 178, by their chemistry": ["find", table, "--examples", WINES, "-o", members],
        "A flower, from one pixel of it and one of the leaves": ["segment", photo, *SEEDS, "-o", overlay],
    }
    to_try = [
        ["topic", index, "thread"],
        ["find", table, "--examples", "60,70,80"],
        ["segment", photo, *SEEDS, "--cut-outs", str(output / "cut-outs")],
    ]
    if as_json:
        commands = [shlex.join(["mixsearch", *command]) for command in (*shown.values(), *to_try)]
        files = sorted(str(file) for file in output.iterdir() if file.is_file())
        console.print_json({"folder": str(output), "files": files, "commands": commands})
        return
    codes = []
    for heading, command in shown.items():
        _print(f"\n{heading}\n", "bold underline")
        _print(f"$ {name_program()} {shlex.join(command)}", "dim")
        name, *arguments = command
        arguments += ["--overwrite"] if name == "index" else []
        codes.append(load_command(name).main(arguments, prog_name=f"mixsearch {name}", standalone_mode=False) or 0)
        if name == "find":
            _print(compare_grapes(members))
    _print("\nTry yourself\n", "bold underline")
    for command in to_try:
        _print(f"{name_program()} {shlex.join(command)}")
    if any(codes):
        raise typer.Exit(max(codes))


def write_files(folder: Path) -> None:
    """Write the texts, tables and the photo to a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    write_docstrings(folder / "docstrings.jsonl")
    make_reviews(3_000, random_state=0).to_csv(folder / "reviews.csv")
    links = sp.triu(make_communities(1_000, 4, mean_degree=12, signal=3, random_state=0).adjacency).tocoo()
    write_table({"source": links.row, "target": links.col}, folder / "links.csv")
    wines = sklearn.datasets.load_wine()
    write_table(dict(zip(wines.feature_names, wines.data.T, strict=True)), folder / "wine.csv")
    shutil.copyfile(Path(sklearn.datasets.__file__).parent / "images" / "flower.jpg", folder / "flower.jpg")


def write_docstrings(path: Path) -> None:
    """Write the docstrings of the installed packages, one per line."""
    with console.show_progress() as on_progress:
        corpus = load_docstrings(on_progress=lambda n, total: on_progress("Reading files", n, total, "files"))
    named: dict[str, str] = {}
    for name, text in zip(corpus.names, corpus.texts, strict=True):
        named.setdefault(name, text)  # the methods of a property have one name
    with path.open("w", encoding="utf-8") as out:
        out.writelines(json.dumps({"name": name, "text": text}) + "\n" for name, text in named.items())


def index_docstrings(folder: Path) -> Path:
    """Index the docstrings of the installed packages in a folder, and return the path of the index."""
    write_docstrings(folder / "docstrings.jsonl")
    with console.show_progress() as on_progress:
        reading, options = CorpusOptions(text="text", id="name"), IndexOptions(overwrite=True)
        source, target = folder / "docstrings.jsonl", folder / "docstrings.index"
        return build_index(source, target, options, reading, on_progress=on_progress).path


def compare_grapes(members: str) -> str:
    """Return how many of the wines that were found are of the grape of the examples."""
    grape, found = sklearn.datasets.load_wine().target, read_table(members)
    is_same = found.select(is_same=pl.Series(grape == grape[0]), score="score").sort("score", descending=True)[
        "is_same"
    ]
    n_members = round(found["membership"].sum())
    return (
        f"The table does not name the three grapes, but scikit-learn does: {is_same.head(n_members).sum()} of the "
        f"first {n_members} wines are of the grape of the examples, and {is_same.sum()} of all."
    )


def name_program() -> str:
    """Return the name of this program, or its path if the shell would not find it."""
    if shutil.which("mixsearch"):
        return "mixsearch"
    return f"{sys.executable} -m mixsearch" if sys.argv[0].endswith("__main__.py") else sys.argv[0]


def _print(text: str, style: str = "") -> None:
    console.stdout_console().print(Text(text, style=style), soft_wrap=True)
