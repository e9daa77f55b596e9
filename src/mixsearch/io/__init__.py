"""Tables in and out, filters and groups of their rows, by Polars."""
