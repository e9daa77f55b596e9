"""How far a hint singled out its component, in words."""

from __future__ import annotations

# From this lead over the runner-up on, in falling order. The search warns below 1.1.
_VERDICTS = (
    (3.0, "clearly singled out"),
    (1.5, "singled out"),
    (1.1, "singled out, but the runner-up is close"),
    (1.0, "hardly singled out: the runner-up is about as good"),
)


def verdict(separation: float) -> str:
    """Say in plain words what a separation means.

    Parameters
    ----------
    separation : float
        By what factor a component leads the best other one under the hint.

    Examples
    --------
    >>> verdict(6.5)
    'clearly singled out'
    >>> verdict(1.02)
    'hardly singled out: the runner-up is about as good'
    """
    for least, words in _VERDICTS:
        if separation >= least:
            return words
    return "not singled out: another component answers the hint better"
