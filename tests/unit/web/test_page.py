"""What the page's scripts and the server must agree on."""

import re

from mixsearch.core.separation import verdict, verdict_by_confidence, verdict_code
from mixsearch.segmentation._confidence import judge_overlap
from mixsearch.web.settings import STATIC_FILES

SEPARATIONS = (10.0, 2.0, 1.2, 1.05, 0.5)
CONFIDENCES = (0.9, 0.6, 0.3, 0.1)
EXPECTED_IOUS = (0.9, 0.7, 0.2)


def test_the_page_has_words_for_every_verdict():
    script = (STATIC_FILES / "shared" / "verdicts.js").read_text()
    maps = re.findall(r"^const (BADGES\w*) = {\n(.*?)^};$", script, re.MULTILINE | re.DOTALL)
    by_name = {name: dict(re.findall(r'^  (\w+): "(.*)",$', lines, re.MULTILINE)) for name, lines in maps}
    badges = by_name["BADGES"]
    assert list(by_name["BADGES_BY_CONFIDENCE"]) == [verdict_by_confidence(each)[0] for each in CONFIDENCES]
    segments = [judge_overlap(iou) for iou in EXPECTED_IOUS]
    assert list(badges) == [*(verdict_code(separation) for separation in SEPARATIONS), *(code for code, _ in segments)]
    for separation in SEPARATIONS:
        assert verdict(separation).startswith(badges[verdict_code(separation)])
    for code, sentence in segments:
        assert sentence.startswith(badges[code])
