"""Fonts for figures with words of any script."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, findfont, fontManager
from matplotlib.ft2font import FT2Font
from matplotlib.text import Text

from mixsearch.errors import SearchWarning, warn_user

_MAX_SHOWN = 10


def choose_fonts(figure: Figure) -> None:
    """Choose fonts that have the characters of a figure's texts, and warn if this machine has none."""
    texts: list[Text] = figure.findobj(Text)
    missing = {letter for text in texts for letter in set(text.get_text()) - _list_characters(findfont(_family(text)))}
    missing = {letter for letter in missing if letter.isprintable() and not letter.isspace()}
    if not missing:
        return
    families = list(_find_families(missing))
    for text in texts:
        text.set_fontfamily([*text.get_fontfamily(), *(name for name, _ in families)])
    unknown = sorted(missing.difference(*(found for _, found in families)))
    if unknown:
        warn_user(
            SearchWarning(
                "No font of this machine has {characters}: the figure shows boxes instead. Install a font of that "
                "script, such as one of the Noto fonts.",
                code="glyphs_missing",
                characters=" ".join(unknown[:_MAX_SHOWN]) + (" ..." if len(unknown) > _MAX_SHOWN else ""),
                n_characters=len(unknown),
            )
        )


def _family(text: Text) -> FontProperties:
    # Without weight and style: all faces of a family have the same characters, or nearly so.
    return FontProperties(family=text.get_fontfamily())


def _find_families(missing: set[str]) -> Iterator[tuple[str, set[str]]]:
    """Yield families that have some of the characters, each with those that it adds."""
    left = set(missing)
    # Fonts for all scripts first: a figure should not mix more of them than it must.
    for entry in sorted(fontManager.ttflist, key=lambda entry: ("Noto Sans" not in entry.name, entry.name)):
        found = left & _list_characters(entry.fname)
        if found:
            yield entry.name, found
            left -= found
        if not left:
            return


@lru_cache(maxsize=512)
def _list_characters(path: str) -> frozenset[str]:
    try:
        return frozenset(map(chr, FT2Font(path).get_charmap()))
    except (OSError, RuntimeError):
        # The list of fonts is cached by matplotlib, and one of them may be gone or broken.
        return frozenset()
