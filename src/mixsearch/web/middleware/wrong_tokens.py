"""Wrong tokens: each is answered later than the one before, counted and logged."""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from time import monotonic

from mixsearch.web.rare_log import RareLog

# A typing error is hardly noticed; who guesses waits the longest.
_FIRST_SECONDS, _MAX_SECONDS = 0.1, 5.0
# After this time without another, an address begins anew.
_FORGOTTEN_SECONDS = 600.0
_MAX_ADDRESSES = 10_000

_logger = logging.getLogger(__name__)


class WrongTokens:
    """Counts of recent wrong tokens by address."""

    def __init__(self) -> None:
        self._counts: OrderedDict[str, tuple[int, float]] = OrderedDict()
        self._log = RareLog(_logger)

    async def delay(self, address: str) -> None:
        """Count a wrong token of an address, and wait the longer the more there were."""
        n_before, last = self._counts.pop(address, (0, 0.0))
        n_wrong = 1 + (n_before if monotonic() - last < _FORGOTTEN_SECONDS else 0)
        self._counts[address] = (n_wrong, monotonic())
        while len(self._counts) > _MAX_ADDRESSES:
            self._counts.popitem(last=False)
        self._log.warn("%s sent a wrong token, %d by now.", address or "A client", n_wrong)
        await asyncio.sleep(min(_FIRST_SECONDS * 2.0 ** min(n_wrong - 1, 10), _MAX_SECONDS))
