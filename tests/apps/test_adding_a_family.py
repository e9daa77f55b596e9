"""The guide on adding a family runs as printed, and the family it adds is right."""

import re
from pathlib import Path

import numpy as np

GUIDE = Path(__file__).parents[2] / "docs" / "adding-a-family.md"


def test_the_guide_adds_a_family_that_finds_its_component(capsys):
    blocks = re.findall(r"```python\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
    code = "\n".join(blocks)
    namespace: dict[str, object] = {"__name__": "guide"}
    exec(compile(code, str(GUIDE), "exec"), namespace)
    assert re.fullmatch(r"largest error \d\.\d\d, confidence \d\.\d\d\n", capsys.readouterr().out)
    found, rates = namespace["found"], namespace["rates"]
    # Three standard errors, with room for the bias of moments.
    assert np.all(np.abs(found.center - rates[1]) < 4 * found.stderr.center + 0.05)
    assert abs(found.weight - 0.3) < 4 * found.stderr.weight + 0.01
    assert found.confidence > 0.95
    assert len(code.splitlines()) < 150
