"""Words of texts in any script, by the rules of the package or a pattern."""

import re
import unicodedata

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer
from tests.coded import raises
from tests.every_word import every_word

from mixsearch.text.count import count_texts
from mixsearch.text.tokens import split_words

# Letters that change their length or their neighbours when they are lowered, marks, joiners, digits of all kinds.
DIFFICULT = "aAbB1 \n\t\x00_-'.<>éÉßẞİıΣςσﬁ²½Ⅷ字かкЙىहि\u0301\u200c\u00ad\u2028\U0001d400\U0001f600"
# Of these, pairs of characters are counted.
WITHOUT_SPACES = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u19e0-\u19ff\u2e80-\u30ff\u31f0-\u31ff\u3400-\u9fff\ufe00-\ufe0f]"
    "|[\ua9e0-\uaa7f\uf900-\ufaff\uff66-\uff9f\U0001aff0-\U0001b16f\U0001f200\U00016fe2-\U00016ff6\U00020000-\U000323af]"
)
texts = st.lists(st.text(st.one_of(st.sampled_from(DIFFICULT), st.characters()), max_size=60), min_size=1, max_size=8)


def count(documents, **options):
    with count_texts(documents, every_word(**options)) as corpus:
        return corpus.vocabulary, corpus.to_counts().toarray()


def assert_same_counts(documents, ours, theirs):
    vectorizer = CountVectorizer(**theirs)
    try:
        counts = vectorizer.fit_transform(documents).toarray()
    except ValueError:
        with raises("no_words"):
            count(documents, **ours)
        return
    found_words, found_counts = count(documents, **ours)
    assert found_words == list(vectorizer.get_feature_names_out())
    np.testing.assert_array_equal(found_counts, counts)


def clean(text):
    """The usual normal form and case; hyphens of other kinds are plain ones."""
    return re.sub("[\u2010-\u2013]", "-", unicodedata.normalize("NFKC", text)).lower()


def default_words(text):
    """The default words, a character at a time."""
    words = "".join(c if unicodedata.category(c)[0] in "LMN" or c in "\u200c\u200d" else " " for c in text).split(" ")
    return [word for word in words if len(word) > 1 and any(unicodedata.category(c)[0] == "L" for c in word)]


@given(documents=texts)
def test_default_words_are_runs_of_letters_marks_and_digits_with_a_letter(documents):
    documents = [text.replace("-", " ").encode("utf-8", "replace").decode() for text in documents]
    assume(not any(map(WITHOUT_SPACES.search, map(clean, documents))))
    # The versions of Unicode of Python and of Polars may differ in new characters.
    assume(not any(unicodedata.category(c) == "Cn" for text in documents for c in text))
    assume(not any("-" in clean(text) for text in documents))
    assert_same_counts(
        documents,
        {},
        {"analyzer": default_words, "preprocessor": None} | {"analyzer": lambda text: default_words(clean(text))},
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Covid19 in 3D, 1984", ["3d", "covid19", "in"]),
        ("ﬁnance FINANCE", ["finance"]),
        ("cafe\u0301 café", ["café"]),
        ("हिन्दी में", ["में", "हिन्दी"]),
        ("snake_case", ["case", "snake"]),
        ("Straße STRASSE", ["strasse", "straße"]),
        (
            "CVE-2022-0001 and GPT\N{NON-BREAKING HYPHEN}4, f-16",
            ["and", "cve", "cve-2022-0001", "f-16", "gpt", "gpt-4"],
        ),
        ("state-of-the-art gpt--4 4-4", ["art", "gpt", "of", "state", "state-of-the-art", "the"]),
        (
            "A GPT-3.5, gpt-4-based zero-day.",
            ["based", "day", "gpt", "gpt-3.5", "gpt-4", "gpt-4-based", "zero", "zero-day"],
        ),
        ("$1.2bn, 1,000km and 5km at https://www.sushi.org", ["5km", "and", "at", "org", "sushi"]),
        ("<p>good<br />film &amp; caf&eacute; <GM> a < b</p>", ["café", "film", "gm", "good"]),
    ],
)
def test_default_words_by_example(text, words):
    assert count([text])[0] == words


SCRIPTS = {
    "Chinese": ("机器翻译", ["机器", "器翻", "翻译"]),
    "Chinese beside Latin letters": ("用GPT4翻译", ["用", "gpt4", "翻译"]),
    "Japanese": ("日本の寿司を食べる", ["日本", "寿司", "食", "べる"]),
    "Katakana": ("新しいコンピュータ", ["新", "しい", "コンピュータ"]),
    "Thai": ("ภาษาไทย", ["ภาษา", "ษาไท", "ไทย"]),
    "Lao": ("ພາສາລາວ", ["ພາສາ", "ສາລາ", "ລາວ"]),
    "Khmer": ("ភាសាខ្មែរ", ["ភាសា", "សាខ្មែ", "ខ្មែរ"]),
    "Burmese": ("မြန်မာ", ["မြန်", "န်မာ"]),
    "Korean": ("한국어 기계 번역", ["한국어", "기계", "번역"]),
    "Arabic": ("الترجمة الآلية", ["الترجمة", "الآلية"]),
    "Hindi": ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),
    "Cyrillic": ("машинный перевод", ["машинный", "перевод"]),
    "different lines": ("汉\n字", ["汉", "字"]),
}


@pytest.mark.parametrize(("text", "words"), SCRIPTS.values(), ids=SCRIPTS)
def test_each_script_is_split_as_its_readers_do(text, words):
    assert split_words(text) == words


def test_a_question_has_a_name_with_a_number_or_its_letters():
    assert split_words("the GPT-4 model") == ["the", "gpt-4", "model"]
    assert split_words("GPT-4", lambda word: word != "gpt-4") == ["gpt"]
    assert split_words("a zero-day", lambda word: word != "zero-day") == ["zero", "day"]
