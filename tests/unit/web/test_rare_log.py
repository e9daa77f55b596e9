"""One line for what may happen a thousand times."""

import logging

from mixsearch.web import rare_log
from mixsearch.web.rare_log import RareLog


def test_further_warnings_are_counted_until_the_next_line(caplog, monkeypatch):
    now = [0.0]
    monkeypatch.setattr(rare_log, "monotonic", lambda: now[0])
    log = RareLog(logging.getLogger("mixsearch.test"), seconds=10)
    for _ in range(5):
        log.warn("Refused %s.", "x")
    now[0] = 11.0
    log.warn("Refused %s.", "y")
    assert [each.getMessage() for each in caplog.records] == ["Refused x.", "Refused y. (5 times since the last line)"]
