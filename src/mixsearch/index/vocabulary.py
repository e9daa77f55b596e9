"""The words of an open index: spelling, completion, frequencies, and the words of other texts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, lru_cache, partial

import numpy as np
import scipy.sparse as sp

from mixsearch._typing import Array
from mixsearch.errors import SearchError
from mixsearch.index.completion import CorpusWord, SortedWords, close_query, split_query
from mixsearch.index.spelling import count_known_words, read_token_options, spell_word
from mixsearch.index.starters import Starter, choose_starters
from mixsearch.index.stored_corpus import StoredCorpus
from mixsearch.io.disk import damage_error
from mixsearch.text.options import CorpusOptions
from mixsearch.text.tokens import split_words

# Words whose spelling is kept.
_N_SPELLED = 1024


class CorpusVocabulary(StoredCorpus):
    """The words of a corpus on disk."""

    @property
    def vocabulary(self) -> list[str]:
        """The words, one per column; empty if the index has none."""
        return self._fitted.search.vocabulary_ or []

    @cached_property
    def _n_documents_by_word(self) -> Array:
        return self._fitted.document_frequencies

    @cached_property
    def _sorted_words(self) -> SortedWords:
        common = self._fitted.common_words
        counts = np.concatenate([self._n_documents_by_word, np.array(list(common.values()), dtype=np.int64)])
        return SortedWords([*self.vocabulary, *common], counts)

    def knows(self, word: str) -> bool:
        """Return whether a word occurs in the texts, or was left out of them.

        Parameters
        ----------
        word : str
            Spelled as the vocabulary does.

        Returns
        -------
        bool
        """
        return self.has_feature(word) or self._fitted.is_dropped(word)

    def count(self, texts: Sequence[str]) -> sp.csr_array:
        """Count the words of other texts over the vocabulary of this index.

        Parameters
        ----------
        texts : sequence of str
            They are split into words as the texts of the index were.

        Returns
        -------
        sparse array of shape (n, d)
        """
        options = self._token_options
        if options is None:
            raise SearchError(
                "This index cannot split a text into words: it was made from counts. Give words or rows of documents.",
                code="no_tokenizer",
            )
        return count_known_words(texts, options, self.vocabulary)

    def spell(self, word: str) -> str:
        """Spell a word as the vocabulary does.

        Parameters
        ----------
        word : str
            In any case and Unicode form. What the texts have as several words, such as "zero-shot", becomes a phrase.

        Returns
        -------
        str
        """
        return self._spelling(word)

    @cached_property
    def _spelling(self) -> Callable[[str], str]:
        """The spelling of each word, kept for those asked for last: every key of a word asks for it several times."""
        options = self._token_options
        if options is None:
            return str
        return lru_cache(_N_SPELLED)(
            partial(spell_word, options=options, known=self._sorted_words, count_documents=self._count_documents)
        )

    def load_stop_words(self) -> None:
        """Load the stop words that phrases are split by. No file of the index is read."""
        if self._token_options is not None:
            split_words("of the phrase", self._token_options)

    def has_feature(self, word: str) -> bool:
        """Return whether a word is in the vocabulary.

        Parameters
        ----------
        word : str
            Spelled as the vocabulary does.

        Returns
        -------
        bool
        """
        return bool(self.vocabulary) and self._fitted.find_columns([word])[0] >= 0

    def document_frequency(self, word: str) -> int:
        """Return the number of documents that contain a word.

        Parameters
        ----------
        word : str
            A feature, or another word of the texts.

        Returns
        -------
        int
        """
        return self._count_documents(self.spell(word))

    def distinctive_words(self, n: int = 10) -> list[CorpusWord]:
        """Return the words that differ most between topics: good first hints.

        Parameters
        ----------
        n : int, default=10
            How many words.

        Returns
        -------
        list of CorpusWord
            The most distinctive words first; none if the index has no vocabulary.
        """
        if not self.vocabulary:
            return []
        return self._rank_words(self._fitted.word_variances, n)

    def starters(self, n: int = 10) -> list[Starter]:
        """Return words to begin with: one per topic, each with another word of its topic.

        Parameters
        ----------
        n : int, default=10
            The maximum number of words.

        Returns
        -------
        list of Starter
            The most distinctive words first; none if the index has no vocabulary.
        """
        return choose_starters(self._fitted, self.vocabulary, n) if self.vocabulary else []

    def frequent_words(self, n: int = 10) -> list[CorpusWord]:
        """Return the words that most documents contain.

        Parameters
        ----------
        n : int, default=10
            How many words.

        Returns
        -------
        list of CorpusWord
        """
        return self._rank_words(self._n_documents_by_word, n)

    def complete_word(self, prefix: str, n: int = 8) -> list[CorpusWord]:
        """Return the words with a prefix, those in most documents first.

        Parameters
        ----------
        prefix : str
            The first letters, in any case.
        n : int, default=8
            The maximum number of words.

        Returns
        -------
        list of CorpusWord
        """
        return self._sorted_words.complete(self.spell(prefix), n)

    def complete_query(self, query: str) -> str:
        """Complete the last word of a query if it is not a word yet.

        Parameters
        ----------
        query : str
            Words as in a search box: ``sushi -bur`` or ``"new yo``.

        Returns
        -------
        str
            With the most frequent word in place of its prefix: ``sushi -burger`` or ``"new york"``.
        """
        before, word = split_query(query)
        is_prefix = word and not self.document_frequency(word)
        completed = self.complete_word(word, 1) if is_prefix else []
        return close_query(before + (completed[0].word if completed else word))

    def _rank_words(self, scores: Array, n: int) -> list[CorpusWord]:
        best = np.argsort(-scores, kind="stable")[:n].tolist()
        names = self.vocabulary or list(map(str, range(len(scores))))
        return [CorpusWord(names[column], int(self._n_documents_by_word[column])) for column in best]

    @cached_property
    def _token_options(self) -> CorpusOptions | None:
        """How texts are split into words; None if the index does not know."""
        if self.tokens is None:
            return None
        try:
            return read_token_options(self.tokens)
        except (KeyError, TypeError) as error:
            raise damage_error(
                "'{path}' is damaged: it cannot split texts ({error}).", path=str(self.path), error=repr(error)
            ) from error

    def _count_documents(self, word: str) -> int:
        """Return the number of documents that contain a feature or another word of the texts."""
        return self._sorted_words.count_documents(word) or self._fitted.count_dropped(word)
