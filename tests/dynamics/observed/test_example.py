"""The example runs, and tells what it is about."""

import re
import runpy
from pathlib import Path

EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "observed_training.py"


def test_the_example_observes_its_training(capsys):
    runpy.run_path(str(EXAMPLE))["main"](20)
    told = capsys.readouterr().out
    assert [int(step) for step in re.findall(r"^ +(\d+) +0\.\d{3} ", told, re.MULTILINE)] == list(range(0, 21, 2))
    assert re.search(r"\d of 4, in the flow 4$", told, re.MULTILINE) and "of the training's time" in told
