"""Folders whose files were changed by someone who also changed the checksums."""

import json
from hashlib import sha256
from io import BytesIO

import numpy as np

from mixsearch.io.folder import seal


def find(folder, name):
    (path,) = folder.glob(f"data-*/{name}")
    return path


def craft_manifest(folder, change):
    """Change the fields of a manifest, and seal it again."""
    fields = json.loads((folder / "manifest.json").read_bytes())
    del fields["checksum"]
    change(fields)
    (folder / "manifest.json").write_bytes(seal(fields))


def craft_file(folder, name, data, **facts):
    """Replace a file, with a manifest that agrees."""
    find(folder, name).write_bytes(data)
    facts |= {"size": len(data), "checksum": sha256(data).hexdigest()}
    craft_manifest(folder, lambda fields: fields["files"][name].update(facts))


def craft_array(folder, name, change):
    """Change an array, with a manifest that agrees."""
    file = BytesIO()
    np.save(file, change(np.load(find(folder, f"{name}.npy"))))
    craft_file(folder, f"{name}.npy", file.getvalue())
