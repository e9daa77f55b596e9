"""The public names are there, documented, and their examples run."""

import doctest
import importlib
import inspect
import pkgutil

import pytest

import mixsearch

MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(mixsearch.__path__, "mixsearch.")
    if module.name != "mixsearch.__main__"
)


def test_the_design_s_names_can_be_imported():
    from mixsearch import (  # noqa: F401
        CommunitySearch,
        GaussianSearch,
        Moments,
        RegressionSearch,
        SubspaceSearch,
        TopicSearch,
        search_moments,
    )


@pytest.mark.parametrize("name", mixsearch.__all__)
def test_every_public_name_says_what_it_is_for(name):
    assert inspect.getdoc(getattr(mixsearch, name))


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_in_docstrings_run(name):
    failed, _ = doctest.testmod(importlib.import_module(name), optionflags=doctest.NORMALIZE_WHITESPACE)
    assert failed == 0
