from .corpus import Corpus
from .count import count_texts, read_corpus
from .options import CorpusOptions
from .word_counter import WordCounter

__all__ = [
    "Corpus",
    "CorpusOptions",
    "WordCounter",
    "count_texts",
    "read_corpus",
]
