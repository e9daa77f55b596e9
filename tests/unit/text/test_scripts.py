"""Each script is split as its readers do, as far as that goes without a dictionary."""

import numpy as np
import pytest

from mixsearch.index import IndexOptions, build_index, open_index
from mixsearch.text import CorpusOptions, split_words

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


# Two subjects in each script; what lies between the words of a clause is drawn from all of them.
SUBJECTS = {
    "Chinese": [["寿司", "米饭", "拉面", "厨师"], ["法院", "律师", "审判", "犯罪"]],
    "Thai": [["อาหาร", "ข้าว", "ปลา", "ร้าน"], ["ศาล", "ทนาย", "กฎหมาย", "คดี"]],
    "Khmer": [["បាយ", "ត្រី", "ស៊ុប", "ម្ហូប"], ["តុលាការ", "មេធាវី", "ច្បាប់", "ចោរ"]],
    "Cyrillic": [["рис", "рыба", "суп", "повар"], ["суд", "закон", "адвокат", "приговор"]],
}


@pytest.mark.parametrize("language", SUBJECTS)
def test_a_word_finds_the_documents_of_its_subject_in_every_script(language, tmp_path):
    rng = np.random.default_rng(0)
    blank = " " if language == "Cyrillic" else ""
    texts = [blank.join(rng.choice(SUBJECTS[language][row % 2], 12)) for row in range(120)]
    path = tmp_path / "texts.txt"
    path.write_text("\n".join(texts) + "\n", encoding="utf-8")
    reading = CorpusOptions(min_df=1, max_df=1.0, n_jobs=1)
    built = build_index(path, tmp_path / "index", IndexOptions(n_components=2), reading)
    assert built.n_documents == len(texts)
    found = open_index(built.path).search(SUBJECTS[language][1][0])
    assert {row % 2 for row, _ in found.documents(40)} == {1}
