"""How far an answer can be trusted: standard errors, and whether the hint picked the right component."""

from mixsearch.uncertainty.confidence import chance_of_being_right
from mixsearch.uncertainty.jackknife import component_errors, jackknife, newton_replicates, replicate_component

__all__ = ["chance_of_being_right", "component_errors", "jackknife", "newton_replicates", "replicate_component"]
