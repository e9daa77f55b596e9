"""Names with a number, such as "gpt-4", "covid-19" and "f-16". A number alone is not a word."""

from __future__ import annotations

import numpy as np

from mixsearch._typing import Array
from mixsearch.text.count.patterns import find_class

_HYPHEN, _FIRST_OTHER, _LAST_OTHER = ord("-"), 0x2010, 0x2013


def unify_hyphens(codes: Array) -> Array:
    """Return code points with the usual hyphen in place of the others, (n_characters,)."""
    if codes.dtype == np.uint8:
        return codes
    return np.where((codes >= _FIRST_OTHER) & (codes <= _LAST_OTHER), np.uint32(_HYPHEN), codes)


def find_numbered_names(codes: Array, starts: Array, ends: Array, has_letter: Array) -> tuple[Array, Array]:
    """Return where letters, a hyphen and a number stand together.

    Parameters
    ----------
    codes : array of shape (n_characters,)
        Code points.
    starts, ends : arrays of shape (n,)
        Runs of letters and digits, in order.
    has_letter : array of shape (n,)
        Whether each run has a letter at an end.

    Returns
    -------
    starts, ends : arrays of shape (n_names,)
        In order.
    """
    numbers = np.flatnonzero(has_letter[:-1] & ~has_letter[1:] & (starts[1:] - ends[:-1] == 1)) + 1
    is_number = find_class(r"\d").take(codes.take(starts[numbers]))
    numbers = numbers[is_number & (codes.take(starts[numbers] - 1) == _HYPHEN)]
    return starts[numbers - 1], ends[numbers]
