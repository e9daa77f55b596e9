"""`mixsearch serve`: its options."""

from __future__ import annotations

import ipaddress
import secrets
import webbrowser
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import urlencode

import typer

from mixsearch.cli._console import aside, complete_index, errors_as_sentences
from mixsearch.cli.demo import index_docstrings
from mixsearch.data.threads import n_cores
from mixsearch.errors import SearchError
from mixsearch.index import TopicIndex, open_index

if TYPE_CHECKING:
    from mixsearch.web.settings import Access, Limits

_ADDRESS, _ACCESS, _LIMITS = "Address", "Access", "Limits"
_LEAST_TOKEN = 8

HELP = """Open a page to search topics as one types, and to cut pictures by clicks.

Examples:

  mixsearch serve reviews.index
  mixsearch serve reviews.index mails.index
  mixsearch serve food=reviews.index --port 9000 --no-open
  mixsearch serve reviews.index --host 0.0.0.0
  mixsearch serve --demo

The server listens on this computer only, unless --host says otherwise;
then it asks for a token, which is made and printed unless one is given.
--demo makes an index of the docstrings on this computer; without an index
there are pictures only. Under the page is an HTTP API: api/openapi.json
describes it. Ctrl-C stops."""


def serve(
    indexes: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[NAME=]INDEX",
            help="As mixsearch index made it; several are fine.",
            autocompletion=complete_index,
            show_default=False,
        ),
    ] = None,
    demo: Annotated[bool, typer.Option("--demo", help="Serve the docstrings on this computer as well.")] = False,
    host: Annotated[
        str, typer.Option(metavar="HOST", help="Where to listen: 0.0.0.0 for the network.", rich_help_panel=_ADDRESS)
    ] = "127.0.0.1",
    port: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=65535,
            metavar="N",
            help="By default 8421, or the next one that is free; 0 for any.",
            show_default=False,
            rich_help_panel=_ADDRESS,
        ),
    ] = None,
    opens: Annotated[
        bool, typer.Option("--open/--no-open", help="Open the page in a browser.", rich_help_panel=_ADDRESS)
    ] = True,
    token: Annotated[
        str | None,
        typer.Option(
            metavar="TOKEN",
            envvar="MIXSEARCH_TOKEN",
            help="That whoever asks must show.",
            show_default=False,
            rich_help_panel=_ACCESS,
        ),
    ] = None,
    no_token: Annotated[
        bool, typer.Option("--no-token", help="Ask for none, even on the network.", rich_help_panel=_ACCESS)
    ] = False,
    allowed: Annotated[
        list[str] | None,
        typer.Option(
            "--allow-host",
            metavar="NAME",
            help="A name by which the server may be called, as behind a proxy; may be given again.",
            rich_help_panel=_ACCESS,
        ),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(
            min=0,
            metavar="N",
            help="Processes that search; by default one for each core, 0 for none beside the server.",
            show_default=False,
            rich_help_panel=_LIMITS,
        ),
    ] = None,
    timeout: Annotated[
        float, typer.Option(min=0.1, metavar="SECONDS", help="For each request.", rich_help_panel=_LIMITS)
    ] = 20.0,
    upload: Annotated[
        float, typer.Option("--max-upload", min=0.1, metavar="MB", help="Of a picture.", rich_help_panel=_LIMITS)
    ] = 25.0,
    pixels: Annotated[
        float, typer.Option("--max-pixels", min=0.01, metavar="MILLIONS", help="Likewise.", rich_help_panel=_LIMITS)
    ] = 24.0,
) -> None:
    """Open a page to search topics and to cut pictures."""
    if token is not None and no_token:
        raise typer.BadParameter("Give --token or --no-token, not both.")
    if token is not None and len(token) < _LEAST_TOKEN:
        raise typer.BadParameter(f"A token needs {_LEAST_TOKEN} letters at least; found {len(token)}.")
    with errors_as_sentences(), ExitStack() as stack:
        web = load_web()
        web.get_ready()  # while indexes are opened
        paths = list(indexes or [])
        if demo:
            folder = stack.enter_context(TemporaryDirectory(prefix="mixsearch-"))
            paths.append(str(index_docstrings(aside(), Path(folder))))
        opened = open_named(paths)
        if token is None and not no_token and not is_loopback(host):
            token = secrets.token_urlsafe(24)
        limits = web.Limits(
            n_processes=n_cores() if workers is None else workers,
            seconds=timeout,
            most_upload=round(upload * 1e6),
            most_pixels=round(pixels * 1e6),
        )
        access = web.Access(token=token, hosts=tuple(name.lower() for name in [host, *(allowed or [])]))
        _run(web, opened, limits, access, host, port, opens)


def load_web() -> Any:
    """The web package, or the line that installs what it needs."""
    try:
        import mixsearch.web as web
    except ModuleNotFoundError as error:
        raise SearchError("The page needs FastAPI and uvicorn: pip install 'mixsearch[web]'") from error
    return web


def open_named(indexes: Sequence[str]) -> dict[str, TopicIndex]:
    """Indexes under the names that the page has them by: those given, else those of their folders."""
    opened: dict[str, TopicIndex] = {}
    for typed in indexes:
        given, equals, path = typed.partition("=")
        if not equals or Path(typed).exists():
            given, path = "", typed
        if given and given in opened:
            raise SearchError(f"Two indexes are called {given!r}. Give them different names: NAME=INDEX.")
        folder, again = given or Path(path).resolve().stem, 2
        name = folder
        while name in opened:
            name, again = f"{folder}-{again}", again + 1
        opened[name] = open_index(path)
    return opened


def is_loopback(host: str) -> bool:
    """Whether only this computer reaches a host."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _run(
    web: Any,
    opened: dict[str, TopicIndex],
    limits: Limits,
    access: Access,
    host: str,
    port: int | None,
    opens: bool,
) -> None:
    app = web.make_app(opened, limits=limits, access=access)
    listener = web.listen(host, port)
    address = web.address_of(listener, host)
    if access.token is not None:
        address += "?" + urlencode({"token": access.token})
    for name, index in opened.items():
        aside().print(f"{name}: {index.n_documents:,} documents, {len(index.vocabulary):,} words", markup=False)
    aside().print(f"Open {address}  (Ctrl-C stops)", markup=False, soft_wrap=True)
    if opens:
        webbrowser.open(address)
    with suppress(KeyboardInterrupt):  # which is how a server ends
        web.make_server(app, limits).run(sockets=[listener])
