"""Mixtures of Gaussians: spherical ones from moments, and those of any shape that grow from one."""
