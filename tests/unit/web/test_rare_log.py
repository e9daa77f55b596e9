"""An event that may happen a thousand times is logged in one line."""

import logging

from mixsearch.web import rare_log
from mixsearch.web.rare_log import RareLog, RareWarnings


def test_further_warnings_are_counted_until_the_next_line(caplog, monkeypatch):
    now = [0.0]
    monkeypatch.setattr(rare_log, "monotonic", lambda: now[0])
    log = RareLog(logging.getLogger("mixsearch.test"), seconds=10)
    for _ in range(5):
        log.warn("Refused %s.", "x")
    now[0] = 11.0
    log.warn("Refused %s.", "y")
    assert [each.getMessage() for each in caplog.records] == ["Refused x.", "Refused y. (5 times since the last line)"]


def test_every_kind_of_warning_is_logged_once_in_a_while_and_errors_always(caplog, monkeypatch):
    now = [0.0]
    monkeypatch.setattr(rare_log, "monotonic", lambda: now[0])
    log = logging.getLogger("mixsearch.test.rare")
    rare = RareWarnings(seconds=10)
    log.addFilter(rare)
    try:
        for _ in range(3):
            log.warning("No HTTP.")
            log.error("Failed.")
        log.warning("Another.")
        now[0] = 11.0
        log.warning("No HTTP.")
    finally:
        log.removeFilter(rare)
    expected = ["No HTTP.", "Failed.", "Failed.", "Failed.", "Another.", "No HTTP. (3 times since the last line)"]
    assert [each.getMessage() for each in caplog.records] == expected
