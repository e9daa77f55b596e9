"""What a server allows: sizes, times, and who may ask."""

from __future__ import annotations

from dataclasses import dataclass, field

from mixsearch.data.threads import n_cores
from mixsearch.errors import SearchError


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Sizes and times.

    Parameters
    ----------
    seconds : float
        For the headers of a request to arrive, and again for its body to arrive and its answer to be worked out and
        taken.
    decoding_seconds : float
        For the unpacking of a picture.
    most_body : int
        Bytes of a request's body; of a picture, `most_upload`.
    most_pixels, most_kept_pixels : int
        Of one picture, and of all that are kept in memory.
    most_answers_bytes : int
        Of answers that are kept, so that the same question costs nothing.
    most_waiting : int
        Questions that wait for a thread; more are turned away.
    most_connections : int
        Open at a time; more are closed at once.
    n_processes : int
        That search; where 0, threads of the server itself do.
    n_threads : int
        How many.
    """

    seconds: float = 20.0
    decoding_seconds: float = 10.0
    most_body: int = 1 << 20
    most_upload: int = 25 << 20
    most_pixels: int = 24_000_000
    most_kept_pixels: int = 100_000_000
    most_answers_bytes: int = 64 << 20
    most_waiting: int = 256
    most_connections: int = 512
    n_processes: int = 0
    n_threads: int = field(default_factory=n_cores)


@dataclass(frozen=True, kw_only=True)
class Access:
    """Who may ask.

    Parameters
    ----------
    token : str, optional
        That every request must show, as a cookie or a header.
    hosts : tuple of str
        Names by which the server may be called, beside addresses of numbers and localhost.
    """

    token: str | None = None
    hosts: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.token is not None and not (self.token.isascii() and self.token.isprintable()):
            raise SearchError("A token must be of plain letters, digits and signs: it travels in headers and cookies.")
