"""Communities of a graph: stochastic block models."""
