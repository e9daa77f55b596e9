"""Checks: of a new family against the contract of `mixsearch.core.family`, and of an installation."""

from typing import TYPE_CHECKING

from mixsearch._front import lazy_front

if TYPE_CHECKING:
    from mixsearch.testing._family import ExactSamples, SplitPartitions, check_family
    from mixsearch.testing._self_test import Check, Outcome, run_self_test
else:
    __getattr__, __dir__ = lazy_front(__name__)

__all__ = ["Check", "ExactSamples", "Outcome", "SplitPartitions", "check_family", "run_self_test"]
