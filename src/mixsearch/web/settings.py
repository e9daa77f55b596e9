"""Settings of the server: addresses, limits and access."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from mixsearch.errors import ArgumentError

STATIC_FILES = Path(__file__).parent / "static"
STATIC = "/static/"
# Addresses of the page for texts, and of the views of the page for files.
HOME, FILE_PAGES = "/", ("/table", "/segment", "/open")
PAGES = (HOME, *FILE_PAGES)


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Sizes, times and numbers of workers.

    Parameters
    ----------
    timeout : float
        Seconds until a search has an answer, and until an uploaded file is read.
    max_file : int
        Bytes of an uploaded file.
    max_pixels : int
        Pixels of an image.
    workers : int
        Processes that search. With 0, threads of the server search.

    Examples
    --------
    >>> from mixsearch.web import Limits, make_app
    >>> app = make_app({}, limits=Limits(timeout=5, max_file=2**20))
    """

    timeout: float = 20.0
    max_file: int = 500_000_000
    max_pixels: int = 24_000_000
    workers: int = 0


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
        Whether users may upload files. They take time and disk space.

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
