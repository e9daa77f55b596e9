"""Compare answers computed in two ways: floats may differ by rounding, which depends on the CPU."""

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass

import numpy as np
from numpy.testing import assert_allclose

# Closer looks at topics are computed in single precision.
RTOL, ATOL = 1e-4, 1e-6


def assert_close(found, expected, where="answer"):
    """Compare arrays, plain data and dataclasses of them, part by part."""
    if isinstance(expected, float | np.floating | np.ndarray):
        assert_allclose(found, expected, rtol=RTOL, atol=ATOL, err_msg=where)
        return
    assert type(found) is type(expected), where
    if is_dataclass(expected):
        for field in fields(expected):
            assert_close(getattr(found, field.name), getattr(expected, field.name), f"{where}.{field.name}")
    elif isinstance(expected, Mapping):
        assert list(found) == list(expected), where
        for key in expected:
            assert_close(found[key], expected[key], f"{where}[{key!r}]")
    elif isinstance(expected, Sequence) and not isinstance(expected, str | bytes):
        assert len(found) == len(expected), where
        for i, (one, other) in enumerate(zip(found, expected, strict=True)):
            assert_close(one, other, f"{where}[{i}]")
    else:
        assert found == expected, where
