"""Names of columns in error messages."""

import pytest

from mixsearch.data.column_names import MAX_LISTED, list_names, suggest_name
from mixsearch.errors import SearchError


def test_long_lists_of_names_are_cut():
    names = [f"x{j}" for j in range(MAX_LISTED + 3)]
    assert list_names(names).endswith(f"x{MAX_LISTED - 1}, and 3 more")


@pytest.mark.parametrize(
    ("typed", "suggestion"), [("pirce", "price"), ("PRICE", "price"), ("Ares", "Area"), ("colour of the door", None)]
)
def test_the_nearest_name_is_suggested(typed, suggestion):
    error = suggest_name(
        SearchError("No column {name!r}.", code="unknown", name=typed), typed, ["price", "Area", "rooms"]
    )
    assert error.fields.get("suggestion") == suggestion
    assert ("Did you mean" in str(error)) == (suggestion is not None)
