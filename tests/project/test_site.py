"""The documentation site builds without a warning, has every public name, and its search finds what newcomers type."""

import json
import re
import shutil
import subprocess
import sys
import zlib
from pathlib import Path

import pytest
from docs.reference_pages.names import list_presented
from sphinx.search.en import SearchEnglish

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("site")]

ROOT = Path(__file__).parents[2]
# What people type, and a page that should be among the answers.
QUERIES = {
    "confidence": "guides/trust",
    "segment": "guides/images",
    "parquet": "guides/topics",
    "GaussianSearch": "generated/api/mixsearch.GaussianSearch",
    "docker": "install",
    "embeddings": "guides/tables",
    "filter": "guides/groups",
    "jackknife": "guides/refinement",
}


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The site, built from a copy and without running the examples, which another test does."""
    copy, site = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("site")
    shutil.copytree(ROOT / "docs", copy / "docs", ignore=shutil.ignore_patterns("generated", "__pycache__"))
    shutil.copytree(ROOT / "examples", copy / "examples")
    icon = Path("src/mixsearch/web/static/icon.svg")
    (copy / icon).parent.mkdir(parents=True)
    for file in (icon, "pyproject.toml", *(path.name for path in ROOT.glob("*.md"))):
        shutil.copy(ROOT / file, copy / file)
    sphinx = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-t", "quick"]
    built = subprocess.run([*sphinx, copy / "docs", site], capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    return site


def test_the_inventory_has_every_public_function_and_class(site):
    compressed = (site / "objects.inv").read_bytes().split(b"\n", 4)[4]
    entries = {line.split(" ", 1)[0] for line in zlib.decompress(compressed).decode().splitlines()}
    assert sorted(set(list_presented()) - entries) == []


def test_the_search_finds_what_newcomers_type(site):
    text = (site / "searchindex.js").read_text(encoding="utf-8")
    index = json.loads(text.removeprefix("Search.setIndex(").removesuffix(")"))
    stem = SearchEnglish({}).stem
    for query, page in QUERIES.items():
        hits = [index[kind].get(stem(query.lower()), []) for kind in ("terms", "titleterms")]
        places = [place for hit in hits for place in (hit if isinstance(hit, list) else [hit])]
        assert page in {index["docnames"][place] for place in places}, query


def test_pages_load_nothing_from_other_hosts(site):
    loaded = re.compile(r"<(?:script|link|img)[^>]+(?:src|href)=\"(https?:[^\"]+)\"")
    outside = {address for page in site.rglob("*.html") for address in loaded.findall(page.read_text(encoding="utf-8"))}
    assert not {address for address in outside if "canonical" not in address}
