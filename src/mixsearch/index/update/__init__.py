"""Change an existing index: add documents, remove documents, refit its topics."""
