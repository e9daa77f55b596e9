"""The theorem and what every family builds on. Imports no family."""
