"""`mixsearch serve`: serve the web page and its HTTP API."""

from __future__ import annotations

import ipaddress
import webbrowser
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlencode

import typer

from mixsearch.cli.console import complete_index, print_notes, report_errors, stderr_console
from mixsearch.errors import SearchError
from mixsearch.io.files import split_table

if TYPE_CHECKING:
    from mixsearch.topics.index import TopicIndex
    from mixsearch.web.settings import Access, Limits

_ADDRESS, _ACCESS, _LIMITS = "Address", "Access", "Limits"
_MIN_TOKEN = 8
NOTHING_TO_SEARCH = (
    "There are no documents to search yet. Drop a file with texts onto the page, or give one: "
    "mixsearch serve reviews.csv (or .parquet, .jsonl, .xlsx), an index, or --demo."
)

HELP = """Open a page to search topics as you type, and to segment images by clicks.

Examples:

  mixsearch serve reviews.parquet
  mixsearch serve reviews.csv --text review
  mixsearch serve reviews.index mails.index
  mixsearch serve food=reviews.index --port 9000 --no-open
  mixsearch serve reviews.index --host 0.0.0.0
  mixsearch serve --demo
  mixsearch serve

By default the server listens on this computer only. Other accounts reach it
there too, so it requires a token, which it creates, keeps beside the first
index and puts into the address that it prints; --no-token turns this off.
A file of documents is indexed once in a folder .mixsearch next to it, and
again when it changes. --demo indexes the docstrings on this computer.
Without an index, drop a file onto the page. Such files are accepted on this
computer, and from others with a token; they are removed when the server
stops. For public use, put a proxy in front. The HTTP API is described in
api/openapi.json. Ctrl-C stops the server.

Exit codes: 0 stopped, 1 bad index or address, 2 usage error."""


def serve(
    indexes: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[NAME=]INDEX",
            help="Folders made by mixsearch index, or files of documents.",
            autocompletion=complete_index,
            show_default=False,
        ),
    ] = None,
    text: Annotated[
        list[str] | None,
        typer.Option(
            "--text",
            metavar="COLUMN",
            help="Column with the text of a file; repeat to join several. Default: detected.",
        ),
    ] = None,
    demo: Annotated[bool, typer.Option("--demo", help="Also serve the docstrings on this computer.")] = False,
    host: Annotated[
        str,
        typer.Option(
            "--host", metavar="HOST", help="Address to listen on; 0.0.0.0: the network.", rich_help_panel=_ADDRESS
        ),
    ] = "127.0.0.1",
    port: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=65535,
            metavar="N",
            help="Default: 8421, or the next free port; 0 for any.",
            show_default=False,
            rich_help_panel=_ADDRESS,
        ),
    ] = None,
    open_page: Annotated[
        bool, typer.Option("--open/--no-open", help="Open the page in a browser.", rich_help_panel=_ADDRESS)
    ] = True,
    token: Annotated[
        str | None,
        typer.Option(
            "--token",
            metavar="TOKEN",
            envvar="MIXSEARCH_TOKEN",
            help="Token that requests must carry.",
            show_default=False,
            rich_help_panel=_ACCESS,
        ),
    ] = None,
    no_token: Annotated[
        bool,
        typer.Option(
            "--no-token",
            help="Require no token: everyone who can reach the server may use it.",
            rich_help_panel=_ACCESS,
        ),
    ] = False,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(
            "--allow-host",
            metavar="NAME",
            help="Host name of the server, as behind a proxy; repeat for several.",
            rich_help_panel=_ACCESS,
        ),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(
            min=0,
            metavar="N",
            help="Number of search processes. Default: one per core; 0 searches in the server itself.",
            show_default=False,
            rich_help_panel=_LIMITS,
        ),
    ] = None,
    timeout: Annotated[
        float, typer.Option(min=0.1, metavar="SECONDS", help="Time limit of a request.", rich_help_panel=_LIMITS)
    ] = 20.0,
) -> None:
    """Open a page to search topics and to segment images."""
    if token is not None and no_token:
        raise typer.BadParameter("Use either --token or --no-token.")
    if token is not None and len(token) < _MIN_TOKEN:
        raise typer.BadParameter(f"A token needs at least {_MIN_TOKEN} characters, got {len(token)}.")
    with report_errors(), ExitStack() as stack:
        from mixsearch import machine

        _check_packages()
        from mixsearch.report import read_page
        from mixsearch.web.processes import start_fork_server
        from mixsearch.web.security import keep_token, make_token
        from mixsearch.web.settings import Access, Limits

        read_page()  # fails now if it is missing
        start_fork_server()  # while indexes are opened
        paths = list(indexes or [])
        if demo:
            from mixsearch.cli.docstrings import index_docstrings
            from mixsearch.io.disk import TemporaryFolder

            folder = stack.enter_context(TemporaryFolder())
            paths.append(str(index_docstrings(stderr_console(), folder.path)))
        if not paths:
            print_notes([NOTHING_TO_SEARCH])
        opened = open_named(paths, text)
        if token is None and not no_token:
            first = next(iter(opened.values()), None)
            token = make_token() if first is None else keep_token(first.path)
        limits = Limits(
            workers=machine.n_cores() if workers is None else workers,
            timeout=timeout,
        )
        access = Access(
            token=token,
            ticket=None if token is None else make_token(),
            hosts=tuple(name.lower() for name in [host, *(allow_host or [])]),
            # A further host name means a proxy, behind which others reach this computer.
            files=token is not None or (is_loopback(host) and not allow_host),
        )
        run_server(opened, limits, access, host, port, open_page)


def _check_packages() -> None:
    """Raise an error that says what to install, if the packages of `mixsearch.web` are missing."""
    try:
        import fastapi  # noqa: F401
        import uvicorn  # noqa: F401
    except ModuleNotFoundError as error:
        raise SearchError(
            "The page needs FastAPI and uvicorn: pip install '{package}[{extra}]'",
            code="extra_missing",
            package="mixsearch",
            extra="web",
        ) from error


def open_named(indexes: Sequence[str], text: Sequence[str] | None = None) -> dict[str, TopicIndex]:
    """Open indexes and return them by name: the name given, else that of the folder or file. Files are indexed."""
    from mixsearch.topics.index import open_index
    from mixsearch.web.indexes import choose_name

    opened: dict[str, TopicIndex] = {}
    for typed in indexes:
        given, equals, path = typed.partition("=")
        if not equals or Path(typed).exists():
            given, path = "", typed
        if given and given in opened:
            raise SearchError(
                "Two indexes are called '{name}'. Give them different names: NAME=INDEX.",
                code="duplicate_name",
                name=given,
            )
        if Path(split_table(path)[0]).is_file():
            from mixsearch.cli.index_report import (
                build_cached,  # what builds an index imports much
                name_index,
            )

            given, path = given or name_index([path]).stem, str(build_cached(path, text))
        opened[choose_name(given or Path(path).resolve().stem, opened)] = open_index(path)
    return opened


def is_loopback(host: str) -> bool:
    """Return whether only this computer can reach a host."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def run_server(
    opened: dict[str, TopicIndex],
    limits: Limits,
    access: Access,
    host: str,
    port: int | None,
    open_page: bool,
) -> None:
    from mixsearch.web.app import make_app
    from mixsearch.web.server import listen, make_server, make_url

    app = make_app(opened, limits=limits, access=access)
    listener = listen(host, port)
    address = make_url(listener, host)
    shown, opened_once = (
        address if each is None else f"{address}?{urlencode({'token': each})}" for each in (access.token, access.ticket)
    )
    for name, index in opened.items():
        stderr_console().print(
            f"{name}: {index.n_documents:,} documents, {len(index.corpus.words or ()):,} words", markup=False
        )
    stderr_console().print(f"Open {shown}  (Ctrl-C stops)", markup=False, soft_wrap=True)
    if open_page:
        webbrowser.open(opened_once)
    with suppress(KeyboardInterrupt):  # which is how a server ends
        make_server(app, limits).run(sockets=[listener])
