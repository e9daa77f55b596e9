"""LDA topics of a corpus of word counts."""
