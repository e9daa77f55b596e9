"""Documents to counts: tokens, vocabulary, duplicates, and counts on disk or on a cluster."""
