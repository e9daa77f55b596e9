"""The guide on adding a family runs as printed, and the families that it adds are right."""

import re
from pathlib import Path

import numpy as np

GUIDE = Path(__file__).parents[2] / "docs" / "adding-a-family.md"


def test_the_guide_adds_families_that_find_their_components(capsys):
    blocks = re.findall(r"```python\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
    code = "\n".join(blocks)
    namespace: dict[str, object] = {"__name__": "guide"}
    exec(compile(code, str(GUIDE), "exec"), namespace)
    assert re.fullmatch(r"largest error \d\.\d\d, weight \d\.\d\d ± \d\.\d\d\n", capsys.readouterr().out)
    for name, truth in (("found", namespace["rates"]), ("found_view", namespace["means"])):
        found = namespace[name]
        assert np.all(np.abs(found.center - truth[1]) < 4 * found.stderr.center)
        assert abs(found.weight - 0.3) < 4 * found.stderr.weight
        assert found.stderr.weight < 0.05
        assert found.separation > 1.5
    assert len(code.splitlines()) < 240
