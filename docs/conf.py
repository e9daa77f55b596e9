"""Settings of the documentation site: `make docs` builds it with Sphinx."""

from __future__ import annotations

import os
import re
import sys
import tomllib
import warnings
from datetime import datetime
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parent
ROOT = DOCS.parent
sys.path.insert(0, str(DOCS))

import reference_pages  # noqa: E402

import mixsearch  # noqa: E402

_PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
_GALLERY = "generated/gallery"

project = "mixsearch"
author = "the mixsearch developers"
version = release = mixsearch.__version__
copyright = f"{datetime.now():%Y}, {author}"  # Sphinx reads this name

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
]
# `sphinx -t quick` checks pages and links: it runs no examples and shows no source.
_IS_QUICK = tags.has("quick")  # noqa: F821 - Sphinx defines it
if not _IS_QUICK:
    extensions.append("sphinx.ext.viewcode")
root_doc = "index"
templates_path = ["templates"]
exclude_patterns = ["generated/gallery/*.ipynb", "generated/gallery/*.py", "generated/gallery/*.json"]
# `name` in a docstring is a link if there is a page of that name, otherwise code.
default_role = "py:obj"
highlight_language = "none"  # blocks without a language are commands and output, not Python
smartquotes = False  # they would turn the dashes of --option into one

myst_heading_anchors = 4

autosummary_generate = True
autodoc_default_options = {"members": True, "member-order": "groupwise"}
autodoc_typehints = "none"  # numpydoc sections have the types in words
autodoc_preserve_defaults = True
toc_object_entries_show_parents = "hide"  # a page is about one class
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": _GALLERY,
    "filename_pattern": r"[/\\]plot_",
    "within_subsection_order": "FileNameSortKey",
    "remove_config_comments": True,
    "image_scrapers": ("gallery_pictures",),
    "show_memory": False,
    "write_computation_times": False,
    "show_signature": False,
    "plot_gallery": not _IS_QUICK,
    "abort_on_example_error": True,
    "reset_modules": ("matplotlib",),
    "backreferences_dir": "generated/backreferences",
    "doc_module": ("mixsearch",),
    "min_reported_time": 30,
    "nested_sections": False,
    "notebook_images": False,
}

html_theme = "pydata_sphinx_theme"
html_title = "mixsearch"
html_favicon = "../src/mixsearch/web/static/icon.svg"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
# A host of several versions names its list of them, in the JSON that the theme's switcher reads.
_VERSIONS = os.environ.get("MIXSEARCH_VERSIONS")
html_theme_options = {
    "logo": {"text": "mixsearch", "image_light": html_favicon, "image_dark": html_favicon},
    "header_links_before_dropdown": 6,
    "navbar_align": "left",
    "navbar_end": ["version-switcher" if _VERSIONS else "version", "theme-switcher", "navbar-icon-links"],
    "check_switcher": False,
    "icon_links": [
        {"name": "Source", "url": _PROJECT["urls"]["Source"], "icon": "fa-brands fa-github"},
    ],
    "show_toc_level": 2,
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
if _VERSIONS:
    html_theme_options["switcher"] = {"json_url": _VERSIONS, "version_match": release}
html_sidebars = {"index": [], "install": [], "changelog": []}
html_context = {"default_mode": "auto"}

# Examples warn where a hint is weak: that is shown by the answer itself.
warnings.filterwarnings("ignore", category=UserWarning, module="matplotlib")


def _skip_foreign(app: Any, what: str, name: str, obj: Any, skip: bool, options: Any) -> bool | None:
    """Leave out members that come from another package, such as those of scikit-learn's base classes."""
    home = getattr(getattr(obj, "fget", obj), "__module__", None)
    return True if home and not home.startswith("mixsearch") else None


def _escape_bars(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Escape |x| in a docstring, which reStructuredText would take for a substitution."""
    lines[:] = [
        line if "`" in line or line.lstrip().startswith((">>>", "...")) else line.replace("|", r"\|") for line in lines
    ]


def _relink(app: Any, path: Path, parent: str, content: list[str]) -> None:
    """Rewrite links in a file of the repository's root to lead to pages of the site, or to the source."""
    text = content[0].replace("](docs/", "](")
    for name in ("CHANGELOG", "CONTRIBUTING"):
        text = text.replace(f"]({name}.md", f"]({name.lower()}.md")
    source = f"{_PROJECT['urls']['Source']}/blob/main/"
    outside = "|".join(path.name for path in ROOT.iterdir() if path != DOCS)
    content[0] = re.sub(rf"\]\(({outside})(?=[/)#])", rf"]({source}\1", text)


def setup(app: Any) -> None:
    """Write the pages that come from the program before Sphinx looks for pages."""
    app.connect("config-inited", lambda app, config: reference_pages.write_pages(DOCS / "generated"))
    app.connect("autodoc-skip-member", _skip_foreign)
    app.connect("autodoc-process-docstring", _escape_bars)
    app.connect("include-read", _relink)
