"""Mixtures of subspaces."""
