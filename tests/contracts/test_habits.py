"""The files around the code agree with it: packaging, workflows, the recipe, the citation."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def read_yaml(path):
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def test_the_version_stands_in_one_place():
    assert "version" in PROJECT["dynamic"]
    assert "version" not in PROJECT


def test_the_tested_versions_of_python_are_the_classified_ones():
    matrix = read_yaml(ROOT / ".github" / "workflows" / "tests.yml")["jobs"]["quick"]["strategy"]["matrix"]
    classified = re.findall(r"Python :: (3\.\d+)", "\n".join(PROJECT["classifiers"]))
    assert matrix["python"] == classified
    assert PROJECT["requires-python"] == f">={classified[0]}"
    assert len(matrix["os"]) == 3


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_has_few_rights_and_ends(path):
    workflow = read_yaml(path)
    assert workflow["permissions"] == {"contents": "read"}
    for name, job in workflow["jobs"].items():
        assert "timeout-minutes" in job or name == "publish"
        for step in job["steps"]:
            assert ("uses" in step) != ("run" in step)


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_runs_what_exists(path):
    text = path.read_text(encoding="utf-8")
    targets = re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert set(re.findall(r"make (\w+)", re.sub(r"#.*", "", text))) <= set(targets)
    for file in re.findall(r"\b(?:tools|requirements)/[\w.]+", text):
        assert (ROOT / file).exists(), file


def test_the_recipe_has_the_dependencies_of_the_package_and_of_its_command():
    recipe = read_yaml(ROOT / "conda" / "recipe.yaml")
    needed = {*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["cli"], f"python{PROJECT['requires-python']}"}
    assert {run.replace(" ", "") for run in recipe["requirements"]["run"]} == needed
    assert recipe["about"]["license"] == PROJECT["license"]
    assert recipe["about"]["repository"] == PROJECT["urls"]["Source"]


def test_the_citation_names_the_project():
    citation = read_yaml(ROOT / "CITATION.cff")
    assert citation["repository-code"] == PROJECT["urls"]["Source"]
    assert citation["license"] == PROJECT["license"]
    assert citation["authors"] == PROJECT["authors"]


def test_hooks_run_programs_of_the_virtual_environment():
    hooks = read_yaml(ROOT / ".pre-commit-config.yaml")["repos"][0]["hooks"]
    assert {hook["entry"].split()[0] for hook in hooks} == {
        ".venv/bin/ruff",
        ".venv/bin/codespell",
        ".venv/bin/lint-imports",
        "node_modules/.bin/eslint",
    }


def test_the_changelog_has_a_date_for_each_version_since_dates_began():
    headings = re.findall(r"^## (.*)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert all(re.fullmatch(r"\d+\.\d+\.\d+(rc\d+)?( \(\d{4}-\d\d-\d\d\))?", heading) for heading in headings)
