from .corpus import Corpus
from .count import count_texts, read_corpus
from .options import CorpusOptions

__all__ = [
    "Corpus",
    "CorpusOptions",
    "count_texts",
    "read_corpus",
]
