"""Requests generated from the OpenAPI description, valid and invalid: each is answered as described."""

import os
from contextlib import suppress

import pytest
import schemathesis
import schemathesis.specs.openapi.schemas  # here, since Python 3.11 may fail to compile it while a server runs
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.checks import load_all_checks
from schemathesis.specs.openapi.checks import positive_data_acceptance
from tests.served_corpus import LANGUAGE, SUBJECTS, open_made
from tests.serving import serve

from mixsearch.web import Access

pytestmark = pytest.mark.slow

# Of each route, and as many that the description does not allow. With MIXSEARCH_FUZZ=300 there are more than 10,000.
N_EXAMPLES = int(os.environ.get("MIXSEARCH_FUZZ", "10"))

# What exists, put in place of most made-up names: else every request would end at the first door.
NAMES = {"index": "texts", "file": "example"}
WORDS = [
    *(word for words in SUBJECTS.values() for word in words),
    *LANGUAGE,
    "so*",
    '"sushi rice"',
    "-court",
    "goal^2",
    "sushy",
]
SEEDS = ["120,80", "sky:216,96", "lake:446,355", "1,1+2,2", "719,479"]
QUESTIONS = ["q=sushi", "q=court&narrower=1", "documents=3", "q=zzz"]
COLUMNS = ["alcohol", "proline", "hue", "nothing"]
KNOWN = {
    "q": st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join),
    "topic": st.lists(st.sampled_from(QUESTIONS), min_size=1, max_size=3),
    "seed": st.lists(st.sampled_from(SEEDS), min_size=1, max_size=3, unique=True),
    "state": st.sampled_from(["?t=q%3Dsushi", "t=q%3Dzzz&by=nothing", ""]),
    "examples": st.lists(st.integers(0, 177), min_size=1, max_size=4),
    "columns": st.lists(st.sampled_from(COLUMNS), max_size=3, unique=True),
    "x": st.sampled_from(COLUMNS),
    "y": st.sampled_from(COLUMNS),
}


@pytest.fixture(scope="module")
def described(tmp_path_factory):
    load_all_checks()
    with serve({"texts": open_made(tmp_path_factory.mktemp("served"))}, Access(files=True)) as serving:
        schema = schemathesis.openapi.from_url(f"{serving.address}api/openapi.json", timeout=600)
        # Also 410: the name of a picture is checked before its seeds.
        schema.config.checks.negative_data_rejection.expected_statuses = ["4xx"]
        yield schema


@pytest.mark.parametrize("mode", list(GenerationMode))
def test_every_request_is_answered_as_described(described, mode):
    n_requests = 0
    for operation in (each.ok() for each in described.get_all_operations()):

        @settings(
            max_examples=N_EXAMPLES,
            deadline=None,
            derandomize=True,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(case=operation.as_strategy(generation_mode=mode), data=st.data())
        def ask(case, data):
            nonlocal n_requests
            n_requests += 1
            _put_known(case, data)
            # A value that the description allows can still be refused: a word may be unknown, a picture gone.
            case.call_and_validate(excluded_checks=[positive_data_acceptance], timeout=600)

        with suppress(Unsatisfiable):  # some routes take nothing that could be wrong
            ask()
    assert n_requests > 5 * N_EXAMPLES
    print(f"{n_requests:,} requests")  # noqa: T201


def _put_known(case, data):
    if data.draw(st.integers(0, 3)):
        for name in case.path_parameters:
            case.path_parameters[name] = NAMES.get(name, case.path_parameters[name])
    if data.draw(st.booleans()):
        for name in set(case.query) & set(KNOWN):
            case.query[name] = data.draw(KNOWN[name])
    for name in {"if-match", "If-Match"} & set(case.headers or ()):
        case.headers[name] = "*"  # a tag of no state is refused before anything else
