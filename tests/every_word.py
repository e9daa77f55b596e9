"""Options for planted corpora in which every word matters."""

from mixsearch.text import CorpusOptions


def every_word(**options):
    """Count every word: none is too rare, too common or a stop word, and there are no phrases."""
    return CorpusOptions(**{"min_df": 1, "max_df": 1.0, "stop_words": None, "phrases": False, **options})
