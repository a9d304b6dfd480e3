"""Each committed figure is what the gallery's command for it draws, pixel by pixel.

Compared are decoded pixels, not bytes: how well a PNG is packed depends on the processor that packs it. matplotlib is
pinned and brings its own fonts and FreeType, so on one machine all pixels are equal; on another the last digits of a
path or a basin may move a few of them.
"""

import os
from importlib import import_module

import numpy as np
import pytest
from PIL import Image

from dynamics.tasks.corpus import standard_library
from tests.scripts.gallery_commands import ROOT, pictures

LEVELS, SHARE = 8, 1e-3  # pixels may differ by more than 8 of 255 levels in this share; a palette of 256 does in 3e-3


def difference(one, other) -> float:
    """Share of pixels that differ by more than LEVELS in a channel; 1 where size or kind of pixel differ."""
    if (one.size, one.mode) != (other.size, other.mode):
        return 1.0
    first, second = (np.asarray(image).astype(int) for image in (one, other))
    return float((abs(first - second).max(-1) > LEVELS).mean())


@pytest.mark.parametrize("picture", pictures(), ids=lambda picture: picture.path.stem)
def test_a_committed_figure_is_what_its_command_draws(picture, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    text = getattr(import_module(f"scripts.{picture.module}"), "TEXT", None)
    if text is not None and text != standard_library().sha256:
        pytest.skip("it reads this Python's standard library, which is not the one that it was committed with")
    with Image.open(picture.path) as committed, Image.open(picture.draw(tmp_path)) as drawn:
        assert difference(committed, drawn) <= SHARE, "draw it again with the command that docs/gallery.md gives"


def test_every_committed_figure_stands_in_the_gallery_once():
    names = [picture.path.name for picture in pictures()]
    assert sorted(names) == sorted(name for name in os.listdir(ROOT / "docs") if name.endswith(".png"))


def test_a_reduced_palette_a_moved_line_and_another_size_are_noticed():
    rng = np.random.default_rng(0)
    smooth = np.linspace(0, 255, 400).astype(np.uint8)
    pixels = np.stack([np.tile(smooth, (300, 1)), np.tile(smooth[:300, None], (1, 400)), np.full((300, 400), 7)], -1)
    image = Image.fromarray(pixels.astype(np.uint8), "RGB").convert("RGBA")
    assert difference(image, image.copy()) == 0
    assert difference(image, image.quantize(64)) == 1
    assert difference(image, image.quantize(64).convert("RGBA")) > SHARE
    assert difference(image, image.resize((200, 150))) == 1
    moved = np.asarray(image).copy()
    moved[:, 200] = rng.integers(0, 255, 4)
    assert difference(image, Image.fromarray(moved)) > SHARE
