from .corpus import Corpus
from .options import CorpusOptions
from .pipeline import count_texts, read_corpus
from .word_counter import WordCounter

__all__ = [
    "Corpus",
    "CorpusOptions",
    "WordCounter",
    "count_texts",
    "read_corpus",
]
