"""Each script is split as its readers do, as far as that goes without a dictionary."""

import pytest

from mixsearch.text import CorpusOptions
from mixsearch.text.question import split_words

WORDS = {
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
}


@pytest.mark.parametrize(("text", "words"), WORDS.values(), ids=WORDS)
def test_words_of_a_script(text, words):
    assert split_words(text.lower(), CorpusOptions()) == words


def test_a_pattern_of_words_is_taken_as_it_is():
    assert split_words("机器翻译", CorpusOptions(token_pattern=r"\w+")) == ["机器翻译"]


def test_documents_of_different_scripts_do_not_meet_at_their_ends():
    assert split_words("汉\n字", CorpusOptions()) == ["汉", "字"]
