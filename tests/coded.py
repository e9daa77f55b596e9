"""Expect an error or a warning by its code and fields; the sentences are in `project/sentences.md`."""

from contextlib import contextmanager

import pytest

from mixsearch.errors import SearchWarning


@contextmanager
def raises(code, **fields):
    """Expect an error with a code and, among its fields, these."""
    with pytest.raises(Exception) as caught:  # noqa: PT011 - errors of the server have another base
        yield caught
    assert getattr(caught.value, "code", None) == code, repr(caught.value)
    assert fields.items() <= caught.value.fields.items()


@contextmanager
def warns(code, **fields):
    """Expect a warning with a code and, among its fields, these."""
    with pytest.warns(SearchWarning) as caught:
        yield caught
    given = [each.message for each in caught if isinstance(each.message, SearchWarning)]
    assert any(each.code == code and fields.items() <= each.fields.items() for each in given), given
