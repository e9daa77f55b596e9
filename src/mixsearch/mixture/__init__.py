"""The mixture engine: maximum likelihood for any family that has a density."""
