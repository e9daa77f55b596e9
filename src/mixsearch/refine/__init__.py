"""A component found by moments -> the same one, sharper."""

from mixsearch.refine.topics import Seeds, SharpTopic, sharpen_topic

__all__ = ["Seeds", "SharpTopic", "sharpen_topic"]
