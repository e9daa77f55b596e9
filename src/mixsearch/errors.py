"""What can go wrong in a search, one class per cause, and how the user is warned."""

from __future__ import annotations

import sys
import warnings


class SearchError(ValueError):
    """Data or a hint from which no component can be found. Every other error here is one of these."""


class HintError(SearchError):
    """A hint that cannot be used: zero, of the wrong length, given twice or not at all."""


class UnknownWordError(HintError):
    """A word of the hint is not in the vocabulary."""


class RankError(SearchError):
    """The data show fewer directions than the components asked for need."""


class NoMassError(SearchError):
    """The component found has weight zero, so its center cannot be told."""


class WeakHintWarning(UserWarning):
    """The hint does not single out one component: the runner-up answers it about as well."""


class FewerComponentsWarning(UserWarning):
    """The data support fewer components than were asked for, and the fit went on with those."""


class DroppedDocumentsWarning(UserWarning):
    """Some documents were too short to enter the moments."""


class HintIgnoredWarning(UserWarning):
    """Labels were given to `fit`, but none of them marks a known member."""


class UnlikelyMixtureWarning(UserWarning):
    """The moments of the samples do not fit a mixture of so many components."""


def warn_user(message: str, category: type[Warning]) -> None:
    """Warn at the line that called the package, however deep inside it the cause was found."""
    level, frame = 1, sys._getframe(0)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "mixsearch":
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
