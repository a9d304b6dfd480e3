"""Each committed figure is what its command draws, pixel by pixel: of the findings and of the pages, and no other.

Compared are decoded pixels, not bytes: how well a PNG is packed depends on the processor that packs it. matplotlib is
pinned and brings its own fonts and FreeType, so on one machine all pixels are equal; on another the last digits of a
path or a basin may move a few of them.
"""

import os
import re

import numpy as np
import pytest
from PIL import Image

from dynamics.tasks.corpus import standard_library
from scripts.commands.docs import ROOT
from scripts.commands.table import module
from scripts.pages.gallery import pictures
from scripts.pages.site.findings import FINDINGS

LEVELS, SHARE = 8, 1e-3  # pixels may differ by more than 8 of 255 levels in this share; a palette of 256 does in 3e-3


def difference(one, other):
    """Share of pixels that differ by more than LEVELS in a channel; 1 where size or kind of pixel differ."""
    if (one.size, one.mode) != (other.size, other.mode):
        return 1.0
    first, second = (np.asarray(image).astype(int) for image in (one, other))
    return float((abs(first - second).max(-1) > LEVELS).mean())


TEXTS = [path.read_text("utf-8") for path in (ROOT / "README.md", *(ROOT / "docs").glob("*.md"))]
SHOWN = {name for text in TEXTS for name in re.findall(r"\((?:docs/)?(\w+)\.png\)", text)}
WANTED = SHOWN | {one.figure for one in FINDINGS}
COMMITTED = [picture for picture in pictures() if picture.name in WANTED]


@pytest.mark.parametrize("picture", COMMITTED, ids=lambda picture: picture.name)
def test_a_committed_figure_is_what_its_command_draws(picture, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    text = getattr(module(picture.module), "TEXT", None)
    if text is not None and text != standard_library().sha256:
        pytest.skip("it reads this Python's standard library, which is not the one that it was committed with")
    with Image.open(ROOT / "docs" / f"{picture.name}.png") as committed, Image.open(picture.draw(tmp_path)) as drawn:
        assert difference(committed, drawn) <= SHARE, f"draw it again: {picture.command}"


def test_the_figures_of_the_findings_and_pages_are_committed_and_no_others():
    names = {name.removesuffix(".png") for name in os.listdir(ROOT / "docs") if name.endswith(".png")}
    assert names == WANTED == {picture.name for picture in COMMITTED}
