"""Documents to counts: tokens, vocabulary, duplicates and counts on disk."""
