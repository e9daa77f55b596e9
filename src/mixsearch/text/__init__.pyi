from .corpus import Corpus
from .count import read_corpus
from .options import CorpusOptions

__all__ = [
    "Corpus",
    "CorpusOptions",
    "read_corpus",
]
