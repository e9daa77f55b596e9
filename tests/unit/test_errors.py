"""Errors and warnings as programs read them."""

import json
from pathlib import Path

import numpy as np

from mixsearch.errors import ArgumentError, Option, SearchError, SearchWarning, UnknownWordError


def test_an_error_as_a_dict_has_only_what_json_can_hold():
    facts = {
        "n": np.int64(3),
        "share": np.float32(0.5),
        "lead": float("inf"),
        "sizes": np.arange(2),
        "words": ("a", "b"),
        "near": {"x": ("y",), 1: None},
        "is_known": np.True_,
        "path": Path("a"),
        "argument": Option("n_components"),
    }
    described = SearchError("{n} of {argument}", code="too_many", **facts).as_dict()
    assert described["code"] == "too_many"
    assert described["message"] == "3 of n_components"
    assert json.loads(json.dumps(described["fields"], allow_nan=False)) == {
        "n": 3,
        "share": 0.5,
        "lead": None,
        "sizes": [0, 1],
        "words": ["a", "b"],
        "near": {"x": ["y"], "1": None},
        "is_known": True,
        "path": "a",
        "argument": "n_components",
    }
    assert SearchWarning("Look again.").as_dict() == {"code": "note", "message": "Look again.", "fields": {}}


def test_a_sentence_can_be_appended_with_its_own_fields():
    plain = UnknownWordError("No word like {this}.").append("Lower {argument}.", argument=Option("min_df"))
    assert plain.describe(lambda name: f"--{name}") == "No word like {this}. Lower --min_df."
    more = ArgumentError("{n} is too large.", n=3).append("The limit is {limit}.", limit=2)
    assert (str(more), more.code, more.fields) == (
        "3 is too large. The limit is 2.",
        "bad_argument",
        {"n": 3, "limit": 2},
    )
