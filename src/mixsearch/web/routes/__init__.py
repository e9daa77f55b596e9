"""The routes of the API: topics of indexes, and uploaded files, tables and images."""
