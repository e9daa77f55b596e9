"""Options for planted corpora in which each word has its part."""

from mixsearch.text import CorpusOptions


def every_word(**options):
    """Count each word as it is: none is too rare, too common or a stop word, and no pair counts beside them."""
    return CorpusOptions(**{"min_df": 1, "max_df": 1.0, "stop_words": None, "phrases": False, **options})
