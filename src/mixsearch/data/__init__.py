"""Rows, wherever they are: chunks, threads, chunks, Dask. No mathematics."""
