"""Change constants of quality for the worse, one at a time, and print which changes no test notices.

    python benchmarks/mutants.py                  # all
    python benchmarks/mutants.py ENOUGH PRIOR     # those whose names contain one of these words

The changes are made in a temporary copy of the tree. Exits with 1 if a mutant survives, and with 2 if the tests fail by
themselves or the source no longer has the text that a mutant changes.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
COPIED = ("src", "tests", "pyproject.toml")
MAX_SECONDS = 600


@dataclass(frozen=True)
class Mutant:
    """A change for the worse and the tests that should notice it.

    Attributes
    ----------
    name : str
    path : str
        The file, below src/mixsearch.
    pattern : str
        A regular expression that matches once; what its groups match stays, the text between them is replaced.
    value : str
        The new text.
    tests : tuple of str
        Files below tests/unit.
    """

    name: str
    path: str
    pattern: str
    value: str
    tests: tuple[str, ...]

    def apply(self, source: str) -> str | None:
        """Return the changed source, or None unless the pattern matches exactly once."""
        changed, n_matches = re.subn(self.pattern, rf"\g<1>{self.value}", source, flags=re.MULTILINE)
        return changed if n_matches == 1 and changed != source else None


TOPICS = ("topics/test_quality.py",)
LOCAL_EM = ("topics/test_quality.py", "topics/test_local_em.py")
SEGMENTATION = ("segmentation/test_quality.py", "segmentation/test_segment.py", "segmentation/test_features.py")
MAP = ("index/test_layout.py", "index/test_map.py")

MUTANTS = (
    Mutant("ENOUGH", "topics/_query.py", r"^(ENOUGH\w*, \w+ = )0\.8\b", "0.4", TOPICS),
    Mutant("PRIOR_CORPUS", "topics/_local_em.py", r"^(PRIOR_TOPIC, \w+, PRIOR_\w+ = 1\.0, 0\.5, )20\.0", "2.0", TOPICS),
    Mutant("WORDS_ELSEWHERE", "topics/_documents.py", r"^(\w*WORDS_ELSEWHERE = )20\b", "1", TOPICS),
    Mutant("N_NEIGHBOURS", "topics/_local_em.py", r"^(N_NEIGHBOU?RS = )8\b", "0", LOCAL_EM),
    Mutant("TYPICAL_LIFT", "topics/_evidence.py", r"^(TYPICAL_LIFT = )2\.0", "0.0", LOCAL_EM),
    Mutant("MEMBER_SHARE", "topics/_evidence.py", r"^(MEMBER_SHARE = )0\.06", "0.9", LOCAL_EM),
    Mutant("NEAR_PER_SEED", "topics/_local_em.py", r"^(NEAR_PER_SEED = )2\b", "200", LOCAL_EM),
    Mutant("POSITION_SPREAD", "segmentation/_features.py", r"^(POSITION_SPREAD = )0\.75", "0.0", SEGMENTATION),
    Mutant("MIN_TEXTURE", "segmentation/_features.py", r"^(MIN_TEXTURE = )1\.0", "1e4", SEGMENTATION),
    Mutant("CALM_RADIUS", "segmentation/_features.py", r"^(CALM_RADIUS = )0\.8", "0.0", SEGMENTATION),
    Mutant("n_extra", "segmentation/_mixture.py", r"^(DEFAULT_OPTIONS = \w+\(n_extra=)4", "0", SEGMENTATION),
    Mutant("window", "segmentation/_mixture.py", r"^(DEFAULT_OPTIONS = .*window=)0\.01", "0.0", SEGMENTATION),
    Mutant("MAX_SAMPLES", "segmentation/_mixture.py", r"^(MAX_SAMPLES = )4000", "40", SEGMENTATION),
    Mutant("MIN_EDGE", "segmentation/_guided_filter.py", r"^(MIN_EDGE = )0\.05", "5.0", SEGMENTATION),
    Mutant("PULL", "index/layout.py", r"^(PULL, PUSH = )0\.5", "0.0", MAP),
    Mutant("SAME_TOPIC", "index/map.py", r"^(SAME_TOPIC = )0\.7\b", "0.999", MAP),
    Mutant("completion", "index/completion.py", r"^( +best = np\.argsort\()-", "", ("index/test_completion.py",)),
    Mutant(
        "FALSE_ALARM", "core/rank_selection.py", r"^(FALSE_ALARM = )0\.002", "0.5", ("core/test_rank_selection.py",)
    ),
    Mutant(
        "WEAK_SEPARATION",
        "core/separation.py",
        r"^(WEAK_SEPARATION = )1\.1",
        "1.0",
        ("gaussian", "core/test_separation.py"),
    ),
    Mutant("OVERSAMPLING", "core/eigen.py", r"^(OVERSAMPLING = )10\b", "0", ("core/test_eigen.py",)),
    Mutant("GAP", "index/layout.py", r"^(GAP = )0\.014", "-0.05", MAP),
    Mutant("HELD_OUT", "topics/_rank_selection.py", r"^(\w+_HELD\w* = )0\.5", "0.0", TOPICS),
    Mutant("DOCUMENTS_ELSEWHERE", "topics/_component.py", r"^(\w*DOCUMENTS_ELSEWHERE = )10\b", "0", TOPICS),
)


def run_tests(tree: Path, tests: tuple[str, ...]) -> bool:
    """Return whether all tests pass in a copy of the tree."""
    found = [str(tree / "tests" / "unit" / test) for test in tests]
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *found]
    environment = os.environ | {"PYTHONPATH": f"{tree / 'src'}{os.pathsep}{tree}"}
    try:
        done = subprocess.run(command, cwd=tree, env=environment, capture_output=True, check=False, timeout=MAX_SECONDS)
    except subprocess.TimeoutExpired:  # a mutant that never ends is noticed
        return False
    return done.returncode == 0


def try_mutant(mutant: Mutant, tree: Path) -> str:
    """Return what became of a mutant: "killed", "SURVIVED" or "NOT FOUND"."""
    file = tree / "src" / "mixsearch" / mutant.path
    source = file.read_text(encoding="utf-8") if file.exists() else ""
    changed = mutant.apply(source)
    if changed is None:
        return "NOT FOUND"
    file.write_text(changed, encoding="utf-8")
    try:
        return "SURVIVED" if run_tests(tree, mutant.tests) else "killed"
    finally:
        file.write_text(source, encoding="utf-8")


def copy_tree(target: Path) -> None:
    """Copy what the tests need."""
    for name in COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, target / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, target / name)


def main() -> int:
    """Try the mutants and print their fates."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("names", nargs="*", help="parts of the names of mutants; all by default")
    names = parser.parse_args().names
    chosen = [mutant for mutant in MUTANTS if not names or any(name in mutant.name for name in names)]
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder)
        copy_tree(tree)
        if not run_tests(tree, tuple(sorted({test for mutant in chosen for test in mutant.tests}))):
            print("The tests fail without any mutant.")
            return 2
        fates = []
        for mutant in chosen:
            fates.append(try_mutant(mutant, tree))
            print(f"{fates[-1]:9}  {mutant.name:16}  {mutant.path}", flush=True)
    return 2 if "NOT FOUND" in fates else 1 if "SURVIVED" in fates else 0


if __name__ == "__main__":
    sys.exit(main())
