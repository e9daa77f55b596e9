"""The graph engine: members by walks on a graph of rows."""
