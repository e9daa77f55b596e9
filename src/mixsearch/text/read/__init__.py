"""Files to documents: formats, columns and compression."""
