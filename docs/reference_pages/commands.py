"""Pages of the command line: a list of all commands, and one page for each."""

from __future__ import annotations

import re
from itertools import zip_longest
from typing import Any

from mixsearch.cli.app import COMMANDS, load_command

from .markdown import make_table


def make_command_list() -> str:
    """Return the page that lists all commands."""
    rows = [(f"[`{name}`](cli/{name}.md)", _mark_code(line)) for name, line in COMMANDS.items()]
    toctree = "\n".join(["```{toctree}", ":hidden:", "", *(f"cli/{name}" for name in COMMANDS), "```"])
    intro = "`mixsearch COMMAND --help` prints the same in a terminal, and `mixsearch --install-completion` completes\n"
    intro += (
        "commands, options and names of indexes with the Tab key. With `-q`, every command prints only answers and\n"
    )
    intro += "errors; with `-v`, also steps and times. An error is one line on standard error, which ends with its\n"
    intro += "[code](errors.md), and the exit code is 1, or 2 for wrong usage."
    return f"# Command line\n\n{intro}\n\n{make_table(('Command', 'What it does'), rows)}\n\n{toctree}\n"


def make_command_page(name: str) -> str:
    """Return the page of one command: its help, then its arguments and options."""
    command = load_command(name)
    arguments = [each for each in command.params if each.param_type_name == "argument"]
    options = [each for each in command.params if each.param_type_name == "option" and not each.hidden]
    usage = " ".join(["mixsearch", name, *(_name_argument(each) for each in arguments), "[OPTIONS]"])
    parts = [f"# mixsearch {name}", _to_markdown(command.help or ""), f"## Usage\n\n```text\n{usage}\n```"]
    if arguments:
        parts.append(
            make_table(
                ("Argument", "Meaning"), ((f"`{_name_argument(each)}`", _mark_code(each.help)) for each in arguments)
            )
        )
    panels: dict[str, list[Any]] = {}
    for each in options:
        panels.setdefault(each.rich_help_panel or "Options", []).append(each)
    for panel, members in panels.items():
        rows = ((_name_option(each), _describe_option(each)) for each in members)
        parts.append(f"## {panel}\n\n" + make_table(("Option", "Meaning"), rows))
    return "\n\n".join(parts) + "\n"


def _name_argument(argument: Any) -> str:
    name = argument.metavar or argument.name.upper()
    return name if argument.required or name.startswith("[") else f"[{name}]"


def _name_option(option: Any) -> str:
    names = ", ".join(f"`{name}`" for name in (*option.opts, *option.secondary_opts))
    return names if option.is_flag else f"{names} `{option.metavar or _name_kind(option.type)}`"


def _name_kind(kind: Any) -> str:
    return "|".join(kind.choices) if hasattr(kind, "choices") else re.sub(" range$", "", kind.name).upper()


def _describe_option(option: Any) -> str:
    notes = []
    low, high = getattr(option.type, "min", None), getattr(option.type, "max", None)
    if low is not None or high is not None:
        notes.append(f"{'' if low is None else f'{low} ≤ '}x{'' if high is None else f' ≤ {high}'}")
    if option.required:
        notes.append("required")
    if option.multiple:
        notes.append("can be repeated")
    if option.default is not None and not option.is_flag and not option.multiple and not callable(option.default):
        notes.append(f"default: `{option.default}`")
    return _mark_code(option.help or "") + (f" ({'; '.join(notes)})" if notes else "")


def _to_markdown(text: str) -> str:
    """Return the help of a command as Markdown: indented lines are commands to type."""
    paragraphs = []
    for paragraph in text.split("\n\n"):
        if all(line.startswith("  ") for line in paragraph.splitlines()):
            lines = "\n".join(line[2:] for line in paragraph.splitlines())
            paragraphs.append(f"```text\n{lines}\n```")
        else:
            paragraphs.append(_mark_code(paragraph))
    return "\n\n".join(paragraphs)


def _mark_code(text: str | None) -> str:
    """Return a text of a terminal with its options, JSON and Rich markup as code, and nothing else as markup."""
    text = re.sub(r"\[(?:bold|cyan|dim)\](.*?)\[/\w*\]", r"`\1`", text or "")
    text = re.sub(r'\{"error".*?\}{2,}', lambda found: f"`{' '.join(found[0].split())}`", text, flags=re.DOTALL)
    texts, codes = re.split(r"`[^`]*`", text), re.findall(r"`[^`]*`", text)
    escaped = [re.sub(r"([*<_\[])", r"\\\1", each) for each in texts]
    marked = [re.sub(r"(?<![\w-])(--[a-z][a-z0-9-]*|-[a-z])\b", r"`\1`", each) for each in escaped]
    return "".join(one + other for one, other in zip_longest(marked, codes, fillvalue=""))
