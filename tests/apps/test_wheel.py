"""The wheel builds, contains what it should, and works without the source."""

import email
import email.policy
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import mixsearch

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dist")
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    subprocess.run(build, check=True, capture_output=True)
    (path,) = folder.glob("*.whl")
    return path


def test_the_wheel_holds_the_package_its_types_and_its_licence_and_nothing_else(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    assert "mixsearch/py.typed" in names
    assert {f"mixsearch/web/static/{name}" for name in ("index.html", "main.js", "topics/topics.js")} <= set(names)
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert all(name.startswith(("mixsearch/", f"mixsearch-{mixsearch.__version__}.dist-info/")) for name in names)


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


def test_the_wheel_holds_every_file_of_the_package(wheel):
    package = ROOT / "src" / "mixsearch"
    files = {str(path.relative_to(package.parent)) for path in package.rglob("*") if path.is_file()}
    assert {name for name in files if "__pycache__" not in name} <= set(zipfile.ZipFile(wheel).namelist())


def read_metadata(wheel):
    (name,) = [each for each in zipfile.ZipFile(wheel).namelist() if each.endswith(".dist-info/METADATA")]
    return email.message_from_bytes(zipfile.ZipFile(wheel).read(name), policy=email.policy.default)


def test_the_version_of_the_wheel_is_that_of_the_package(wheel):
    assert read_metadata(wheel)["Version"] == mixsearch.__version__


def test_the_package_index_can_follow_every_link_of_the_readme(wheel):
    links = re.findall(r"\]\(([^)#]+)[^)]*\)", read_metadata(wheel).get_payload())
    assert links
    assert [link for link in links if not link.startswith("https://")] == []
