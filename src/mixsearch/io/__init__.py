"""Tables in and out by Polars; folders written completely or not at all."""
