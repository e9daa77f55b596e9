"""An index that is replaced while it is searched; `benchmarks/rebuild_under_load.py` does it for longer."""

import sys

import pytest
from benchmarks.rebuild_under_load import DOCUMENT, MORE, TOPIC, Listed, Observed, State, find_mixed, run

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="processes are found in /proc"),
]

STATES = {
    "first": State("alpha", {0: "alpha-1-0", 1: "alpha-1-1"}),
    "second": State("beta", {0: "beta-2-0", 1: "beta-2-1"}),
}


def test_no_answer_mixes_two_states_of_an_index():
    report, wrong = run(3)
    assert not wrong
    assert {each.kind for each in report.observed if each.status == 200} >= {TOPIC, DOCUMENT}
    assert set(report.changes) == {"built", "grown", "shrunk", "deleted and restored"}
    assert len({each.generation for each in report.observed if each.status == 200}) > 1


def observe(kind, generation, documents, words=(), opened=None):
    return Observed(kind, 200, "", generation, True, words, documents, opened)


FIRST = Listed(0, "alpha-1-0", "alpha-1-0 sushi1")
SECOND = Listed(1, "beta-2-1", "beta-2-1 court1")


@pytest.mark.parametrize(
    ("observed", "expected"),
    [
        (observe(TOPIC, "first", (FIRST,), ("sushi1", "alpha", "alpha-1")), ""),
        (observe(DOCUMENT, "second", (SECOND,), opened=SECOND), ""),
        (observe(TOPIC, "third", (FIRST,)), "the state 'third' was never written"),
        (observe(MORE, "second", (SECOND,))._replace(asked="first"), "an answer of beta after one of another state"),
        (observe(TOPIC, "first", (FIRST, SECOND)), "'beta-2-1' in row 1"),
        (observe(TOPIC, "first", (FIRST,), ("sushi1", "court1")), "the word 'court1' in a topic of alpha"),
        (observe(DOCUMENT, "second", (SECOND,), opened=FIRST), "'beta-2-1' opened for 'alpha-1-0'"),
        (observe(DOCUMENT, "first", (FIRST._replace(text="beta-2-0 court1"),)), "the text 'beta-2-0 court1' of"),
    ],
)
def test_a_mixed_answer_is_found(observed, expected):
    found = find_mixed(observed, STATES)
    assert found.startswith(expected)
    assert bool(found) == bool(expected)
