"""The wheel builds, contains what it should, and works without the source; the files around the code agree with it."""

import email
import email.policy
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
import yaml

import mixsearch

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dist")
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    subprocess.run(build, check=True, capture_output=True)
    (path,) = folder.glob("*.whl")
    return path


def read_metadata(wheel):
    (name,) = [each for each in zipfile.ZipFile(wheel).namelist() if each.endswith(".dist-info/METADATA")]
    return email.message_from_bytes(zipfile.ZipFile(wheel).read(name), policy=email.policy.default)


@pytest.mark.slow
def test_the_wheel_holds_the_package_and_nothing_else(wheel):
    package = ROOT / "src" / "mixsearch"
    files = {path.relative_to(package.parent).as_posix() for path in package.rglob("*") if path.is_file()}
    is_wanted = re.compile("(?!.*/__pycache__/|mixsearch/web/page/)")
    names = zipfile.ZipFile(wheel).namelist()
    built = {f"mixsearch/web/static/{page}.{kind}" for page in ("page", "files") for kind in ("js", "css")}
    assert built | set(filter(is_wanted.match, files)) <= set(names)
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert all(name.startswith(("mixsearch/", f"mixsearch-{mixsearch.__version__}.dist-info/")) for name in names)


@pytest.mark.slow
def test_the_wheel_works_where_the_source_is_not(wheel, tmp_path):
    zipfile.ZipFile(wheel).extractall(tmp_path / "elsewhere")
    program = (
        "import sys; sys.path.insert(0, 'elsewhere'); import mixsearch;"
        "from mixsearch.datasets import make_gaussian_mixture;"
        "data = make_gaussian_mixture(500, 10, 3, random_state=0);"
        "found = mixsearch.GaussianSearch(3).fit(data.X).search(data.centers[0]);"
        "print(mixsearch.__file__, round(found.separation))"
    )
    ran = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, check=True, capture_output=True, text=True)
    assert ran.stdout.startswith(str(tmp_path / "elsewhere"))


@pytest.mark.slow
def test_the_package_index_can_follow_every_link_of_the_readme(wheel):
    metadata = read_metadata(wheel)
    links = re.findall(r"\]\(([^)#]+)[^)]*\)", metadata.get_payload())
    assert metadata["Version"] == mixsearch.__version__
    assert links
    assert [link for link in links if not link.startswith("https://")] == []


def test_the_changelog_and_the_citation_have_the_version():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    date = citation["date-released"]
    entry = f"## {mixsearch.__version__}, {date.day} {date:%B %Y}\n"
    assert citation["version"] == mixsearch.__version__
    assert entry in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_pictures_are_small():
    pictures = {path.name: path.stat().st_size for path in (ROOT / "docs" / "pictures").rglob("*.png")}
    assert {name: size for name, size in pictures.items() if size > 200_000} == {}


def test_workflows_run_targets_and_files_that_exist():
    targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE)
    missing = []
    for path in sorted((ROOT / ".github" / "workflows").glob("*.yml")):
        text = path.read_text(encoding="utf-8")
        assert yaml.safe_load(text)["permissions"] == {"contents": "read"}, path.name
        missing += set(re.findall(r"make ([\w-]+)", re.sub(r"#.*", "", text))) - set(targets)
        missing += [file for file in re.findall(r"\b(?:tools|requirements)/[\w.]+", text) if not (ROOT / file).exists()]
    assert missing == []


def test_the_recipe_has_the_dependencies_of_the_package_and_of_its_command():
    recipe = yaml.safe_load((ROOT / "conda" / "recipe.yaml").read_text(encoding="utf-8"))
    needed = {*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["cli"], f"python{PROJECT['requires-python']}"}
    # A recipe for all versions of Python has no markers.
    plain = {requirement.partition(";")[0] for requirement in needed}
    assert {run.replace(" ", "") for run in recipe["requirements"]["run"]} == plain
