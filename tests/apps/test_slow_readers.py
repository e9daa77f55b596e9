"""Connections that neither read nor send in time; `benchmarks/slow_readers.py` opens many more."""

import sys
from collections import Counter

import pytest
from benchmarks.slow_readers import (
    ANSWERED,
    MAX_GROWTH,
    OWN_ADDRESS,
    PIPELINES,
    REFUSED,
    SHARED_ADDRESS,
    Asker,
    Report,
    Tally,
    run,
)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="other systems have one loopback address, and no /proc"),
]

# More than one address may have, and more than all may have together.
WAVE = {"127.0.0.1": 140, **{f"127.0.0.{i}": 90 for i in range(2, 7)}}


def test_slow_connections_are_closed_and_take_no_place_of_others():
    # However slow the machine: what is not closed within the margin is never closed.
    report, wrong = run(0, wave=WAVE, margin=60)
    assert not wrong
    assert report.slow.opened.total() == sum(WAVE.values())
    assert report.slow.closed.total(), "the limit was never reached"
    assert report.slow.closed[PIPELINES]


def make_report(outcomes, log="", n_ended=0, longest=1.0, growth=0.0):
    askers = {address: Asker(0, address, 0) for address in (OWN_ADDRESS, SHARED_ADDRESS)}
    askers[OWN_ADDRESS].outcomes = Counter(outcomes)
    return Report(Tally(longest={"never reads": longest}), askers, (200.0, 200.0 + growth), n_ended, log)


@pytest.mark.parametrize(
    ("report", "expected"),
    [
        (make_report({ANSWERED: 3}), []),
        (make_report({ANSWERED: 3, REFUSED: 1}), ["questions from an address of its own: {'refused': 1}"]),
        (make_report({}), ["no question was answered"]),
        (make_report({ANSWERED: 3}, log="Traceback (most"), ["a traceback in the log"]),
        (make_report({ANSWERED: 3}, n_ended=2), ["2 processes ended"]),
        (make_report({ANSWERED: 3}, longest=9.0), ["a connection was held for 9.0 s"]),
        (make_report({ANSWERED: 3}, growth=MAX_GROWTH), []),
        (make_report({ANSWERED: 3}, growth=5000.0), ["the memory grew by 5000 MB"]),
    ],
)
def test_what_must_not_happen_is_found(report, expected):
    assert report.find_wrong(longest=5.0) == expected
