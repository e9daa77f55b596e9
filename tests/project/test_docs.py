"""The documentation is correct: its examples run, its links lead somewhere, its commands exist.

Each test lists all failures.
"""

import re
import shlex
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from mixsearch.cli.app import COMMANDS, load_command
from mixsearch.errors import DroppedDocumentsWarning, WeakHintWarning

ROOT = Path(__file__).parents[2]
GENERATED = ROOT / "docs" / "generated"
PAGES = sorted(path for path in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")] if not path.is_relative_to(GENERATED))
# Files of the Python standard library stand for those of all packages, which take longer to read.
PACKAGES = "asyncio,email,http,logging,multiprocessing,threading,unittest,urllib,xml"


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


def read(page):
    return page.read_text(encoding="utf-8")


def find_anchors(page):
    headings = re.findall(r"^#+ (.*)$", read(page), flags=re.MULTILINE)
    return [re.sub(r"[^\w -]", "", text).strip().lower().replace(" ", "-") for text in headings]


def test_links_lead_to_files_and_headings_that_exist():
    broken = []
    for page in PAGES:
        for target in re.findall(r"\]\(([^)]+)\)", read(page)):
            path, _, heading = target.partition("#")
            linked = (page.parent / path).resolve() if path else page
            # The build of the site follows links to generated pages.
            if target.startswith("http") or linked.is_relative_to(GENERATED):
                continue
            if not linked.exists() or (heading and heading not in find_anchors(linked)):
                broken.append(f"{page.name}: {target}")
    assert broken == []


def test_make_targets_on_pages_exist():
    targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE)
    shown = [(page.name, target) for page in PAGES for target in re.findall(r"(?:^|`)make ([\w-]+)", read(page), re.M)]
    assert [(page, target) for page, target in shown if target not in targets] == []


def test_files_on_pages_exist():
    folders = r"benchmarks|examples|paper_experiments|requirements|src|tests|tools"
    shown = [(page.name, file) for page in PAGES for file in re.findall(rf"`((?:{folders})/[\w./-]+)`", read(page))]
    assert [(page, file) for page, file in shown if not (ROOT / file).exists()] == []


def test_every_page_is_in_the_contents_of_the_site():
    listed = {ROOT / "docs" / "index.md"}
    for page in PAGES:
        for block in re.findall(r"```\{toctree\}\n(.*?)```", page.read_text(encoding="utf-8"), flags=re.DOTALL):
            for entry in (line for line in block.splitlines() if line and not line.startswith(":")):
                listed.add((page.parent / f"{entry}.md").resolve())
    assert sorted(page.name for page in set(PAGES) - listed if page.is_relative_to(ROOT / "docs")) == []


def commands(page):
    """Return the commands that a page shows, without their output."""
    text = page.read_text(encoding="utf-8")
    for language, block in re.findall(r"^```(\S*)\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE):
        for line in () if language not in ("", "bash", "text") else re.sub(r"\\\n\s*", " ", block).splitlines():
            if match := re.match(r"(?:\$ )?(?:\w+ \S+ \| )?mixsearch ([a-z]+)(.*)", line):
                yield match[1], shlex.split(match[2], comments=True)


def test_commands_and_options_on_pages_exist():
    unknown = []
    for page in PAGES:
        for name, arguments in commands(page):
            params = load_command(name).params if name in COMMANDS else []
            known = {option for each in params for option in (*each.opts, *each.secondary_opts)} | {"--help"}
            used = {each.partition("=")[0] for each in arguments if re.match(r"--?[a-z]", each)}
            if name not in COMMANDS or not used <= known:
                unknown.append(f"{page.name}: {name} {' '.join(sorted(used - known))}")
    assert unknown == []


def run_commands(lines, folder):
    for line in lines:
        line = re.sub("^mixsearch", f"{shlex.quote(sys.executable)} -m mixsearch", line)
        ran = subprocess.run(line, shell=True, cwd=folder, capture_output=True, text=True, check=False)
        assert ran.returncode == 0, f"{line}\n{ran.stderr}"


@pytest.mark.slow
def test_the_commands_of_the_readme_run(tmp_path):
    lines = [line for line in read(ROOT / "README.md").splitlines() if line.startswith("mixsearch ")]
    assert len(lines) >= 7
    run_commands([f"mixsearch demo --packages {PACKAGES} logging thread"], tmp_path)
    run_commands([line for line in lines if "mixsearch serve" not in line], tmp_path / "mixsearch-demo")
    assert {"over-time.png", "labelled.csv", "out.png", "members.csv"} <= {
        path.name for path in (tmp_path / "mixsearch-demo").iterdir()
    }


@pytest.mark.slow
def test_the_commands_of_the_tutorial_run(tmp_path):
    page = ROOT / "docs" / "tutorials" / "first-topic.md"
    lines = "\n".join(re.findall(r"```bash\n(.*?)```", read(page), flags=re.DOTALL)).splitlines()
    assert len(lines) > 8
    lines = [line for line in lines if not line.startswith(("pip install", "mixsearch serve"))]
    run_commands(
        [line.replace("mixsearch demo", f"mixsearch demo --packages {PACKAGES} logging") for line in lines], tmp_path
    )
    assert (tmp_path / "report.html").exists()
    assert len((tmp_path / "labelled.csv").read_text(encoding="utf-8").splitlines()) > 1_000


def test_the_output_in_the_readme_is_that_of_the_program(capsys):
    exec(blocks(ROOT / "README.md")[0], {})
    shown = re.search(r"```text\n(.*?)\.\.\.", read(ROOT / "README.md"), flags=re.DOTALL)[1].rstrip()
    printed = "\n".join(capsys.readouterr().out.splitlines()[: len(shown.splitlines())])
    number = r"\d[\d,]*\.?\d*"
    assert re.sub(rf"{number}|█+| +", " ", shown) == re.sub(rf"{number}|█+| +", " ", printed)
    for one, other in zip(re.findall(number, shown), re.findall(number, printed), strict=True):
        # Another processor may round the last digit otherwise.
        decimals = len(one.partition(".")[2])
        assert abs(float(one.replace(",", "")) - float(other.replace(",", ""))) < 1.5 * 10**-decimals, (one, other)


def test_the_readme_compares_by_figures_of_the_pages_that_it_links_to():
    rows = re.findall(
        r"^\| \[.*?\]\((.*?)#.*?\)[^|]*\|([^|]*\|[^|]*)\| (ahead|behind) \|$",
        (ROOT / "README.md").read_text(encoding="utf-8"),
        flags=re.MULTILINE,
    )
    assert [outcome for *_, outcome in rows].count("behind") >= 3  # where others are better, it says so
    for page, cells, _ in rows:
        text, figures = (ROOT / page).read_text(encoding="utf-8"), re.findall(r"[\d.]*\d", cells)
        assert figures
        assert [each for each in figures if not re.search(rf"(?<![\d.]){re.escape(each)}(?!\d)", text)] == [], cells


def test_the_notation_names_what_exists():
    from mixsearch.core.component import Component
    from mixsearch.core.family import Family
    from mixsearch.core.frame import Frame
    from mixsearch.core.moments import Hinted
    from mixsearch.gaussian import GaussianFamily

    types = {each.__name__: each for each in (Family, Frame, GaussianFamily, Hinted, Component)}
    text = (ROOT / "docs" / "reference" / "notation.md").read_text(encoding="utf-8")
    for owner, name in re.findall(r"`([A-Z]\w+)\.(\w+)`", text):
        assert hasattr(types[owner], name) or name in types[owner].__annotations__, f"{owner}.{name}"
