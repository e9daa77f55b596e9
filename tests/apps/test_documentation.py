"""The documents tell the truth: their examples run, their links lead somewhere, their commands exist."""

import re
import warnings
from pathlib import Path

import pytest

from mixsearch.errors import DroppedDocumentsWarning, WeakHintWarning

ROOT = Path(__file__).parents[2]
PAGES = sorted([ROOT / "README.md", *ROOT.glob("docs/**/*.md"), ROOT / "CHANGELOG.md"])


def blocks(page):
    return re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), flags=re.DOTALL)


@pytest.mark.slow
@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page)], ids=lambda page: page.name)
def test_the_examples_of_a_page_run_in_order(page):
    namespace = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DroppedDocumentsWarning)
        warnings.simplefilter("ignore", WeakHintWarning)
        for block in blocks(page):
            exec(compile(block, str(page), "exec"), namespace)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_to_files_and_headings_that_exist(page):
    for target in re.findall(r"\]\(([^)]+)\)", page.read_text(encoding="utf-8")):
        if target.startswith("http"):
            continue
        path, _, heading = target.partition("#")
        linked = (page.parent / path).resolve() if path else page
        assert linked.exists(), target
        if heading:
            headings = re.findall(r"^#+ (.*)$", linked.read_text(encoding="utf-8"), flags=re.MULTILINE)
            anchors = [re.sub(r"[^\w -]", "", text).strip().lower().replace(" ", "-") for text in headings]
            assert heading in anchors, target


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_make_targets_that_a_page_names_exist(page):
    targets = re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE)
    named = re.findall(r"`make (\w+)`|^make (\w+)", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert {one or other for one, other in named} <= set(targets)


def test_the_readme_s_results_are_what_its_comments_say(capsys):
    *_, own_model = blocks(ROOT / "README.md")
    namespace = {}
    exec(own_model, namespace)
    found = namespace["found"]
    assert found.center == pytest.approx([2, 0, 1])
    assert found.weight == pytest.approx(0.3)


def test_the_notation_names_what_exists():
    from types import SimpleNamespace

    from mixsearch.core.component import Component
    from mixsearch.core.frame import Frame
    from mixsearch.core.moments import Hinted

    types = SimpleNamespace(Component=Component, Frame=Frame, Hinted=Hinted)

    text = (ROOT / "docs" / "notation.md").read_text(encoding="utf-8")
    for owner, name in re.findall(r"`(Frame|Hinted|Component)\.(\w+)`", text):
        kind = getattr(types, owner)
        assert hasattr(kind, name) or name in kind.__annotations__, f"{owner}.{name}"
