"""Tables: filters and groups of their rows by Polars."""
