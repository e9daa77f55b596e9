"""Tables in and out, by Polars."""
