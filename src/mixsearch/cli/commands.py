"""Commands that are imported when they are run, so that help and completion wait for none of them."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from mixsearch.cli.console import report_errors
from mixsearch.cli.options import expand_options

# The commands in the order of the help, each with the first line of the HELP of its module.
COMMANDS = {
    "index": "Build an index of texts. Search it with [bold]mixsearch topic[/].",
    "topic": "Find the topic that a hint means, with its words and documents.",
    "overview": "Show the topics of an index, the largest first.",
    "info": "Show the contents of an index, how it was built, and its size.",
    "report": "Write a report on some topics: one HTML file to share.",
    "export": "Write the documents of an index to a table, with their columns and texts.",
    "add": "Add documents to an index. They can be searched at once.",
    "remove": "Remove documents from an index, with their texts and columns.",
    "find": "Find the rows of a table that are like a few of them.",
    "community": "Find the community of a graph that a few nodes belong to.",
    "segment": "Segment an image, from one pixel of each segment.",
    "serve": "Open a page to search topics as you type, and to segment images by clicks.",
    "demo": "Find topics in the docstrings on this computer, then one Gaussian of ten.",
    "doctor": "Show versions, cores, fonts and optional packages, and how to get what is missing.",
}


def load_command(name: str) -> Any:
    """Import a command, with its options."""
    module = import_module(f"mixsearch.cli.{name}")
    alone = typer.Typer(add_completion=False, rich_markup_mode="rich")
    alone.command(name, help=module.HELP)(expand_options(getattr(module, name)))
    return typer.main.get_command(alone)


class LazyGroup(TyperGroup):
    """A group that lists its commands by name and first line, and imports the one that is run."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.commands = {
            name: TyperCommand(name, help=line, rich_markup_mode="rich") for name, line in COMMANDS.items()
        }

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command to run or to complete, with its options."""
        name, found, rest = super().resolve_command(ctx, args)
        with report_errors():  # Ctrl-C also while packages are imported
            return name, None if found is None else load_command(str(found.name)), rest
