"""Rows, wherever they are: chunks, threads, partitions, Dask. No mathematics."""
