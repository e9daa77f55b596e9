"""Compare two indexes of the same documents, however they are stored."""

import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mixsearch.index import verify_index


def assert_same_answers(one, several, words, rtol=1e-6, atol=1e-7):
    """Compare eigenvalues, and the topics of words with their documents; shares are in single precision."""
    verify_index(several.path)
    assert several.n_documents == one.n_documents
    assert several.vocabulary == one.vocabulary
    assert_array_equal(several.topics.kept_rows_, one.topics.kept_rows_)
    assert_allclose(several.fitted.eigenvalues, one.fitted.eigenvalues, rtol=rtol)
    for word in words:
        ours, theirs = several.search(word), one.search(word)
        assert [each for each, _ in ours.top_words(10)] == [each for each, _ in theirs.top_words(10)]
        assert_allclose(ours.probabilities, theirs.probabilities, rtol=rtol, atol=atol)
        assert ours.weight == pytest.approx(theirs.weight, rel=rtol)
        assert ours.confidence == pytest.approx(theirs.confidence, rel=rtol)
        assert ours.document_count.n == theirs.document_count.n
        shares, expected = (dict(topic.documents(one.n_documents)) for topic in (ours, theirs))
        assert shares.keys() == expected.keys()
        assert_allclose([shares[row] for row in expected], list(expected.values()), rtol=rtol, atol=atol)
