"""Folders of arrays and texts on disk, written atomically: complete or not there, whatever happens to the writer."""
