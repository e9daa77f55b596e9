"""Settings of the server: addresses, limits and access."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from mixsearch.errors import ArgumentError
from mixsearch.machine import n_cores

STATIC_FILES = Path(__file__).parent / "static"
STATIC = "/static/"
# Addresses of the page for texts, and of the views of the page for files.
HOME, FILE_PAGES = "/", ("/table", "/segment", "/open")
PAGES = (HOME, *FILE_PAGES)
# Images are uploaded to this address, files with texts or tables to the other.
UPLOADS = "/api/pictures"
FILES = "/api/files"


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Sizes, times and numbers of workers.

    Parameters
    ----------
    timeout : float
        Seconds until the body of a request has arrived and its answer has been sent.
    decode_timeout : float
        Seconds for decoding an uploaded image.
    max_body, max_upload : int
        Bytes of a request body, and of an uploaded image.
    max_file, max_stored_files : int
        Bytes of a file with texts or a table, and of all such files on disk. Such a file has ten times `timeout`.
    max_cells : int
        Rows times columns of a table.
    build_timeout : float
        Seconds for building an index from such a file.
    max_built : int
        Indexes built from such files.
    max_pixels, max_stored_pixels : int
        Pixels of one image, and of all images in memory.
    max_cached_bytes : int
        Bytes of cached answers.
    max_waiting : int
        Requests that may wait for a worker; further ones are rejected.
    max_connections : int
        Open connections; requests on further ones are rejected.
    workers : int
        Processes that search. With 0, threads of the server search.
    n_threads : int
        The number of these threads, one per core by default.

    Examples
    --------
    >>> from mixsearch.web import Limits, make_app
    >>> app = make_app({}, limits=Limits(timeout=5, max_upload=2**20))
    """

    timeout: float = 20.0
    decode_timeout: float = 10.0
    max_body: int = 1 << 20
    max_upload: int = 25 << 20
    max_file: int = 500_000_000
    max_stored_files: int = 2_000_000_000
    max_cells: int = 20_000_000
    build_timeout: float = 1800.0
    max_built: int = 8
    max_pixels: int = 24_000_000
    max_stored_pixels: int = 100_000_000
    max_cached_bytes: int = 64 << 20
    max_waiting: int = 256
    max_connections: int = 512
    workers: int = 0
    n_threads: int = field(default_factory=n_cores)


@dataclass(frozen=True, kw_only=True)
class Access:
    """Who may use the server.

    Parameters
    ----------
    token : str, optional
        Required from every request, as a cookie or a header.
    ticket : str, optional
        Signs in once instead of the token, for the browser that is opened: other accounts see the addresses that
        programs are started with.
    hosts : tuple of str
        Host names that the server answers to, besides localhost and IP addresses.
    files : bool, default=False
        Whether users may upload files with texts, which are indexed, and tables. They take time and disk space.

    Examples
    --------
    >>> from mixsearch.web import Access, make_app
    >>> app = make_app({}, access=Access(token="a long secret", hosts=("search.example.org",)))
    """

    token: str | None = None
    ticket: str | None = None
    hosts: tuple[str, ...] = ()
    files: bool = False

    def __post_init__(self) -> None:
        if self.token is not None and not (self.token.isascii() and self.token.isprintable()):
            raise ArgumentError(
                "The token must consist of printable ASCII characters: it is sent in headers and cookies.",
                code="bad_token",
            )
