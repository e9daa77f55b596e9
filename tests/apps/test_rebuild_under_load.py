"""An index that is replaced while it is searched; `benchmarks/rebuild_under_load.py` does it for longer."""

import sys

import pytest
from benchmarks.rebuild_under_load import DOCUMENT, TOPIC, run

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="processes are found in /proc"),
]


def test_no_answer_mixes_two_states_of_an_index():
    report, wrong = run(3)
    assert not wrong
    assert {each.kind for each in report.observed if each.status == 200} >= {TOPIC, DOCUMENT}
    assert set(report.changes) == {"built", "grown", "shrunk", "deleted and restored"}
    assert len({each.generation for each in report.observed if each.status == 200}) > 1
