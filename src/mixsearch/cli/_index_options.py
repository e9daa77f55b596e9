"""Arguments that the commands about several topics of an index share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mixsearch.cli._console import complete_index

IndexArgument = Annotated[
    Path, typer.Argument(metavar="INDEX", help="Folder made by mixsearch index.", autocompletion=complete_index)
]
EachWordArgument = Annotated[
    list[str] | None, typer.Argument(metavar="WORD", help="Words, phrases and patterns; each is one hint.")
]
HintsOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="A file with one hint per line, 'sushi -pizza' or 'name: sushi -pizza'; - for standard input.",
    ),
]
TableOutputOption = Annotated[
    Path, typer.Option("--output", "-o", metavar="FILE", help="The file to write. It is replaced if it exists.")
]
