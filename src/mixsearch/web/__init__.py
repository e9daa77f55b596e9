"""The page and the HTTP API under it: topics as one types, segments as one clicks."""
