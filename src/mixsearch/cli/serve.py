"""`mixsearch serve`: serve the web page and its HTTP API."""

from __future__ import annotations

import ipaddress
import json
import os
import sys
import webbrowser
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlencode

import typer

from mixsearch import __version__
from mixsearch.cli import console
from mixsearch.cli.options import JsonOption
from mixsearch.io.files import split_table
from mixsearch.options import option

if TYPE_CHECKING:
    from mixsearch.topics.index import TopicIndex
    from mixsearch.web.settings import Access, Limits

_MIN_TOKEN = 8
NOTHING_TO_SEARCH = (
    "There are no documents to search yet. Drop a file with texts onto the page, or give one: "
    "mixsearch serve reviews.csv (or .parquet, .jsonl, .xlsx), an index, or --demo."
)

HELP = """Search topics as you type, rows of tables by examples, and segments of images
by clicks, with an HTTP API.

Examples:

  mixsearch serve reviews.parquet
  mixsearch serve reviews.csv --text review
  mixsearch serve reviews.index mails.index
  mixsearch serve reviews.index --port 9000 --no-open
  mixsearch serve reviews.index --host 0.0.0.0
  mixsearch serve --demo

By default the server listens on this computer only. Other accounts reach it
there too, so it requires a token, which it creates, keeps beside the first
index and puts into the address that it prints; --no-token turns this off.
A file of documents is indexed once in a folder .mixsearch next to it, and
again when it changes. Without an index, drop a file onto the page: files are
accepted on this computer, and from others with a token; they are removed when
the server stops. For public use, put a proxy in front. The HTTP API is
described in api/openapi.json. Ctrl-C stops the server.

--json prints the address for a program: url, indexes (name, path)."""


@dataclass(frozen=True, kw_only=True)
class ServeOptions:
    """Options of the server."""

    text: tuple[str, ...] = option((), "Columns with the text of a file. Default: detected.", metavar="COLUMN")
    demo: bool = option(False, "Also serve the docstrings on this computer.")
    host: str = option("127.0.0.1", "Address to listen on; 0.0.0.0: the network.", metavar="HOST")
    port: int | None = option(
        None, "Port. Default: 8421, or the next free one; 0 for any.", ge=0, le=65535, metavar="N"
    )
    open: bool = option(True, "Open the page in a browser.")
    token: str | None = option(
        None, "Token that requests must carry. Default: MIXSEARCH_TOKEN, or a new one.", metavar="TOKEN"
    )
    no_token: bool = option(False, "Require no token: everyone who can reach the server may use it.")
    allow_host: tuple[str, ...] = option((), "Host names of the server, as behind a proxy.", metavar="NAME")
    workers: int | None = option(
        None, "Number of search processes. Default: one per core; 0 for none.", ge=0, metavar="N"
    )


def serve(
    indexes: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="INDEX",
            help="Folders made by mixsearch index, or files of documents.",
            autocompletion=console.complete_index,
        ),
    ] = None,
    *,
    options: ServeOptions,
    as_json: JsonOption = False,
) -> None:
    token = options.token or os.environ.get("MIXSEARCH_TOKEN")
    if options.token is not None and options.no_token:
        raise typer.BadParameter("Use either --token or --no-token.")
    if token is not None and len(token) < _MIN_TOKEN:
        raise typer.BadParameter(f"A token needs at least {_MIN_TOKEN} characters, got {len(token)}.")
    with ExitStack() as stack:
        from mixsearch import machine
        from mixsearch.report import read_page
        from mixsearch.web.processes import start_fork_server
        from mixsearch.web.security import keep_token, make_token
        from mixsearch.web.settings import Access, Limits

        read_page()  # fails now if it is missing
        start_fork_server()  # while indexes are opened
        paths = list(indexes or [])
        if options.demo:
            from mixsearch.cli.demo import index_docstrings
            from mixsearch.io.disk import TemporaryFolder

            paths.append(str(index_docstrings(stack.enter_context(TemporaryFolder()).path)))
        if not paths:
            console.print_notes([NOTHING_TO_SEARCH])
        opened = open_named(paths, options.text)
        if options.no_token:
            token = None
        elif token is None:
            first = next(iter(opened.values()), None)
            token = make_token() if first is None else keep_token(first.path)
        access = Access(
            token=token,
            ticket=None if token is None else make_token(),
            hosts=tuple(name.lower() for name in [options.host, *options.allow_host]),
            # A further host name means a proxy, behind which others reach this computer.
            files=token is not None or (is_loopback(options.host) and not options.allow_host),
        )
        limits = Limits(workers=machine.n_cores() if options.workers is None else options.workers)
        run_server(opened, limits, access, options, as_json=as_json)


def open_named(indexes: Sequence[str], text: Sequence[str] = ()) -> dict[str, TopicIndex]:
    """Open indexes, and return them by the names of their folders or files. Files are indexed."""
    from mixsearch.topics.index import open_index
    from mixsearch.web.indexes import choose_name

    opened: dict[str, TopicIndex] = {}
    for path in indexes:
        is_file = Path(split_table(path)[0]).is_file()
        folder = build_cached(path, text) if is_file else Path(path)
        name = Path(folder.stem).stem if is_file else folder.resolve().stem
        opened[choose_name(name, opened)] = open_index(folder)
    return opened


def build_cached(source: str, text: Sequence[str] = ()) -> Path:
    """Return the index of a file; it is built unless that of the same file is in the cache."""
    from mixsearch.text.options import CorpusOptions
    from mixsearch.topics.build import IndexOptions, build_index

    file, table = split_table(source)
    cache = Path(file).resolve().parent / ".mixsearch"
    name = Path(file).name if table is None else f"{Path(file).name}-{table}"
    target, stamp, facts = cache / f"{name}.index", cache / f"{name}.json", Path(file).stat()
    # What the index depends on; another version may write other indexes.
    state = json.dumps([facts.st_mtime_ns, facts.st_size, list(text), __version__])
    if target.exists() and stamp.exists() and stamp.read_text(encoding="utf-8", errors="replace") == state:
        return target
    cache.mkdir(exist_ok=True)
    stamp.unlink(missing_ok=True)
    console.stderr_console().print(f"Indexing {source}", markup=False, soft_wrap=True)
    with console.show_progress() as on_progress, console.record_warnings() as warned:
        reading, options = CorpusOptions(text=list(text) if text else None), IndexOptions(overwrite=True)
        built = build_index(source, target, options, reading, on_progress=on_progress)
    console.print_notes([*built.notes, *warned])
    stamp.write_text(state, encoding="utf-8")
    return target


def is_loopback(host: str) -> bool:
    """Return whether only this computer can reach a host."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def run_server(
    opened: dict[str, TopicIndex], limits: Limits, access: Access, options: ServeOptions, *, as_json: bool = False
) -> None:
    """Serve indexes until Ctrl-C, after printing the address of the page."""
    from mixsearch.web.app import make_app
    from mixsearch.web.server import listen, make_server, make_url

    app = make_app(opened, limits=limits, access=access)
    listener = listen(options.host, options.port)
    address = make_url(listener, options.host)
    shown, opened_once = (
        address if each is None else f"{address}?{urlencode({'token': each})}" for each in (access.token, access.ticket)
    )
    if as_json:
        console.print_json({"url": shown, "indexes": {name: str(index.path) for name, index in opened.items()}})
        sys.stdout.flush()  # a program waits for the address
    for name, index in opened.items():
        words = f"{index.n_documents:,} documents, {index.corpus.n_words:,} words"
        console.stderr_console().print(f"{name}: {words}", markup=False)
    if not as_json:
        console.SafeConsole(stderr=True).print(f"Open {shown}  (Ctrl-C stops)", markup=False, soft_wrap=True)
    if options.open:
        webbrowser.open(opened_once)
    with suppress(KeyboardInterrupt):  # which is how a server ends
        make_server(app).run(sockets=[listener])
