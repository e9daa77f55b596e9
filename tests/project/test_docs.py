"""The documentation is correct: its examples run, its links lead somewhere, its commands exist.

Each test lists all failures.
"""

import re
import runpy
import shlex
import subprocess
import sys
import warnings
from contextlib import redirect_stdout
from io import StringIO
from itertools import zip_longest
from pathlib import Path

import pytest
from matplotlib.figure import Figure

from mixsearch.cli.app import COMMANDS, load_command
from mixsearch.errors import DroppedDocumentsWarning, WeakHintWarning

ROOT = Path(__file__).parents[2]
GENERATED = ROOT / "docs" / "generated"


def read(page):
    return page.read_text(encoding="utf-8")


PAGES = sorted(path for path in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")] if not path.is_relative_to(GENERATED))
# Pages whose commands run, too: those of other pages name files of the reader.
WALKED = [ROOT / "README.md", *ROOT.glob("docs/tutorials/first-*.md")]
BLOCK = re.compile(r"^```(python|bash)\n(.*?)^```\n(?:\n```text\n(.*?)^```)?", flags=re.DOTALL | re.MULTILINE)
NUMBER = r"\d[\d,]*\.?\d*"


def run_commands(commands, folder):
    """Return what commands print, and the folder that they end in."""
    commands = re.sub(r"^(?:make test|pip install|source|mixsearch serve).*", "", commands, flags=re.MULTILINE)
    commands = re.sub(r"^make demo", "mixsearch demo", commands, flags=re.MULTILINE)
    program = f'mixsearch() {{ {shlex.quote(sys.executable)} -m mixsearch "$@"; }}\n{commands}\npwd >&2'
    ran = subprocess.run(["bash", "-ec", program], cwd=folder, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, f"{commands}\n{ran.stderr}"
    return ran.stdout, ran.stderr.splitlines()[-1]


def run_python(code, names):
    with redirect_stdout(StringIO()) as output:
        exec(compile(code, "page", "exec"), names)
    return output.getvalue()


def differ(shown, printed):
    """Return whether two lines have other words, or numbers that differ in more than the last digit."""
    if len({re.sub(r"[█ ]+", " ", re.sub(NUMBER, "#", line)).strip() for line in (shown, printed)}) > 1:
        return True
    pairs = zip(re.findall(NUMBER, shown), re.findall(NUMBER, printed), strict=True)
    # Another processor may round otherwise.
    units = [(float(a.replace(",", "")) - float(b.replace(",", ""))) * 10 ** len(a.partition(".")[2]) for a, b in pairs]
    return any(abs(unit) > 1.5 for unit in units)


@pytest.mark.slow
@pytest.mark.parametrize("page", [page for page in PAGES if BLOCK.search(read(page))], ids=lambda page: page.stem)
def test_blocks_of_a_page_run_in_order_and_print_what_it_shows(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names, folder, wrong = {}, tmp_path, []
    for language, block, shown in BLOCK.findall(read(page)):
        printed = ""
        if language == "python":
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DroppedDocumentsWarning)
                warnings.simplefilter("ignore", WeakHintWarning)
                printed = run_python(block, names)
        elif page in WALKED:
            printed, folder = run_commands(block, folder)
        lines = re.split(r"\n *\.\.\.", shown)[0].splitlines()
        pairs = zip_longest(lines, printed.splitlines()[: len(lines)], fillvalue="")
        wrong += [f"{one}  is printed as  {other}" for one, other in pairs if differ(one, other)]
    assert wrong == []


def find_anchors(text):
    headings = re.findall(r"^#+ (.*)$", text, flags=re.MULTILINE)
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
            if not linked.exists() or (heading and heading not in find_anchors(read(linked))):
                broken.append(f"{page.name}: {target}")
    assert broken == []


def test_make_targets_on_pages_exist():
    targets = re.findall(r"^([\w-]+):", read(ROOT / "Makefile"), flags=re.MULTILINE)
    shown = [(page.name, target) for page in PAGES for target in re.findall(r"(?:^|`)make ([\w-]+)", read(page), re.M)]
    assert [(page, target) for page, target in shown if target not in targets] == []


def test_files_on_pages_exist():
    folders = r"benchmarks|examples|paper_experiments|requirements|src|tests|tools"
    shown = [(page.name, file) for page in PAGES for file in re.findall(rf"`((?:{folders})/[\w./-]+)`", read(page))]
    assert [(page, file) for page, file in shown if not (ROOT / file).exists()] == []


def commands(page):
    """Return the commands that a page shows, without their output."""
    for language, block in re.findall(r"^```(\S*)\n(.*?)^```", read(page), flags=re.DOTALL | re.MULTILINE):
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


def test_tables_of_results_have_a_command_the_data_and_a_date():
    source = re.compile(r"^`python (?:-m (paper_experiments)|(benchmarks/\w+\.py)).*` · .+ · \d+ \w+ 20\d\d", re.M)
    without = []
    for page in sorted((ROOT / "docs" / "results").glob("*.md")):
        # Every section of the paper's experiments is printed by one command, at the top.
        sections = [read(page)] if "<!-- rows" in read(page) else re.split(r"^(?=## )", read(page), flags=re.M)
        for section in (section for section in sections if "\n| ---" in section):
            named = source.search(section)
            if not named or not (ROOT / (named[1] or named[2])).exists():
                without.append(f"{page.name}: {section.splitlines()[0]}")
    assert without == []


def test_figures_of_the_readme_are_those_of_the_sections_that_it_links_to():
    links = re.findall(r"\[([^]]*\.\d{3}[^]]*)\]\(([^#)]*)#([^)]*)\)", read(ROOT / "README.md"))
    assert len(links) > 4
    for text, page, heading in links:
        sections = {find_anchors(part)[0]: part for part in re.split(r"^(?=#)", read(ROOT / page), flags=re.M) if part}
        missing = [each for each in re.findall(r"\.\d+", text) if each not in re.findall(r"\.\d+", sections[heading])]
        assert missing == [], text


def test_the_notation_names_what_exists():
    from mixsearch.core.component import Component
    from mixsearch.core.family import Family
    from mixsearch.core.frame import Frame
    from mixsearch.core.moments import Hinted
    from mixsearch.gaussian import GaussianFamily

    types = {each.__name__: each for each in (Family, Frame, GaussianFamily, Hinted, Component)}
    text = read(ROOT / "docs" / "reference" / "notation.md")
    for owner, name in re.findall(r"`([A-Z]\w+)\.(\w+)`", text):
        assert hasattr(types[owner], name) or name in types[owner].__annotations__, f"{owner}.{name}"


EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("plot_*.py"))


@pytest.mark.slow
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs_and_draws(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = runpy.run_path(str(path))
    assert isinstance(names["figure"], Figure)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_asks_a_question_and_is_a_screen_long(path):
    lines = path.read_text(encoding="utf-8").splitlines()
    heading = lines[1]
    assert lines[:3] == ['"""', heading, "=" * len(heading)]
    assert "?" in "\n".join(lines).split('"""')[1]
    assert len(lines) <= 70
