"""Tables: find the rows that are like a few given ones."""
