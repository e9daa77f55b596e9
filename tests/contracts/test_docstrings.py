"""Everything that a front exports has a complete numpydoc docstring."""

import importlib
import inspect
import pkgutil

import pytest
from numpydoc.docscrape import get_doc_object
from numpydoc.validate import Validator, validate

import mixsearch
from mixsearch.errors import Coded

# No docstring, no Returns section, a parameter that is not listed, a parameter without a description.
CODES = ("GL08", "RT01", "PR01", "PR07")


class _Validator(Validator):
    """Validator for which the fields of a result may be documented as its attributes."""

    def __init__(self, obj_name):
        # What the docstring itself says, without the members that numpydoc would add.
        super().__init__(get_doc_object(self._load_obj(obj_name), config={"show_class_members": False}))

    @property
    def doc_all_parameters(self):
        return self._doc_parameters(["Parameters", "Other Parameters", "Attributes"])

    @property
    def signature_parameters(self):
        # Errors are documented by their common base.
        if inspect.isclass(self.obj) and issubclass(self.obj, Coded):
            return ()
        return tuple(name for name in super().signature_parameters if not name.startswith("_"))


def list_fronts():
    """Return the public modules that say in `__all__` what they export."""
    names = [each.name for each in pkgutil.walk_packages(mixsearch.__path__, "mixsearch.")]
    public = ["mixsearch", *(name for name in names if "._" not in name)]
    return [name for name in public if hasattr(importlib.import_module(name), "__all__")]


def list_exported(fronts):
    """Return the names of exported functions and classes, with the public methods and properties of the classes."""
    for front in fronts:
        module = importlib.import_module(front)
        for name in module.__all__:
            exported = getattr(module, name)
            if inspect.isfunction(exported):
                yield f"{front}.{name}"
            elif inspect.isclass(exported):
                yield f"{front}.{name}"
                yield from (f"{front}.{name}.{member}" for member in list_members(exported))


def list_members(cls):
    """Return the public methods and properties that a class has from this package."""
    for name in dir(cls):
        member = inspect.getattr_static(cls, name)
        owner = getattr(member, "fget", None) or getattr(member, "func", None) or getattr(member, "__func__", member)
        is_public = inspect.isfunction(owner) and not name.startswith("_")
        if is_public and owner.__module__.startswith("mixsearch"):
            yield name


@pytest.mark.parametrize("name", list(list_exported(list_fronts())))
def test_the_docstring_is_complete(name):
    errors = validate(name, validator_cls=_Validator)["errors"]
    assert [text for code, text in errors if code in CODES] == []
