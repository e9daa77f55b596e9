"""From an analyst's files to counts of words: streaming, on all cores, in bounded memory."""

from mixsearch.corpus.collection import count_texts, read_corpus
from mixsearch.corpus.corpus import Corpus, CountBlock
from mixsearch.corpus.options import FORMATS, CorpusOptions

__all__ = ["FORMATS", "Corpus", "CorpusOptions", "CountBlock", "count_texts", "read_corpus"]
