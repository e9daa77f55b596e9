"""Pictures cut into segments: pixels -> features -> one search per seed."""

from mixsearch.segmentation.segmentation import Segmentation
from mixsearch.segmentation.segmenting import segment

__all__ = ["Segmentation", "segment"]
