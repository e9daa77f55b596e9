"""What the page's scripts and the server must agree on."""

import re

from mixsearch.core.separation import verdict, verdict_code
from mixsearch.web.settings import STATIC_FILES

SEPARATIONS = (10.0, 2.0, 1.2, 1.05, 0.5)


def test_the_page_has_words_for_every_verdict():
    script = (STATIC_FILES / "shared" / "verdicts.js").read_text()
    badges = dict(re.findall(r'^  (\w+): "(.*)",$', script, re.MULTILINE))
    assert list(badges) == [verdict_code(separation) for separation in SEPARATIONS]
    for separation in SEPARATIONS:
        assert verdict(separation).startswith(badges[verdict_code(separation)])
