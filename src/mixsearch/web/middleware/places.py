"""Places for connections, shared between addresses."""

from __future__ import annotations

from typing import Generic, TypeVar

from mixsearch.web.settings import Limits

Connection = TypeVar("Connection")


class Places(Generic[Connection]):
    """The open connections of every address.

    Parameters
    ----------
    limits : Limits
        `max_connections` and `max_per_address`.
    """

    def __init__(self, limits: Limits) -> None:
        self._max, self._max_per_address = limits.max_connections, limits.max_per_address
        self._taken: dict[str, dict[Connection, None]] = {}  # a dict keeps their order

    def take(self, address: str, connection: Connection) -> Connection | None:
        """Take a place, and return the connection that must end for it, if there are too many.

        If all places are taken, that is the oldest one of the address with the most connections. If no other address
        has more than this one, it is the new connection itself.
        """
        own = self._taken.setdefault(address, {})
        own[connection] = None
        if len(own) > self._max_per_address:
            ended = connection
        elif sum(map(len, self._taken.values())) <= self._max:
            return None
        else:
            largest = max(self._taken.values(), key=len)
            ended = next(iter(largest)) if len(largest) > len(own) else connection
        self.give_back(ended)
        return ended

    def give_back(self, connection: Connection) -> None:
        """Give back the place of a connection, if it has one."""
        for address, connections in self._taken.items():
            if connection in connections:
                del connections[connection]
                if not connections:
                    del self._taken[address]
                return
