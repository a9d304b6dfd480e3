"""The visual language: hues have one home, text is no smaller than 7 points, what is drawn alike differs twice."""

import re
from pathlib import Path

import matplotlib
import numpy as np
import pytest

import scripts
from scripts.figures import palette
from scripts.figures.figure_files import STYLE

SOURCES = {path.name: path.read_text("utf-8") for path in Path(scripts.__file__).parent.rglob("*.py")}
SIZES = ("font.size", "axes.titlesize", "axes.labelsize", "xtick.labelsize", "ytick.labelsize", "legend.fontsize")
DEUTERANOPIA = np.array(
    [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]]
)
"""Machado, Oliveira, Fernandes (2009), severity 1, on linear light."""


def test_no_script_but_the_palette_names_a_hue():
    named = [name for name, text in SOURCES.items() if re.search(r'"#[0-9a-fA-F]{3,6}"|"(?:tab:|C\d|black")', text)]
    assert sorted(named) == ["palette.py", "rooms.py"]  # the picture of rooms is no figure


def test_no_text_is_smaller_than_seven_points():
    small = {
        name: re.findall(r"(?:fontsize|labelsize)\"?[=:] ?([0-6](?:\.\d+)?)\b", text) for name, text in SOURCES.items()
    }
    assert {name: found for name, found in small.items() if found} == {}
    with matplotlib.rc_context(fname=STYLE):
        sizes = [value for key, value in matplotlib.rcParams.items() if key in SIZES]
    assert len(sizes) == len(SIZES) and min(sizes) >= 7


def test_figures_are_as_wide_as_columns():
    widths = {float(found) for text in SOURCES.values() for found in re.findall(r"figsize=\(([\d.]+),", text)}
    assert widths <= {3.3, 3.4, 4.5, 5.5, 7.0}


LOOKS = {"models": palette.MODELS, "series": palette.SERIES, "verdicts": tuple(palette.VERDICTS.values())}


@pytest.mark.parametrize("looks", LOOKS.values(), ids=LOOKS)
def test_what_stands_side_by_side_differs_in_its_marker_and_to_deuteranopes(looks):
    assert len({look.marker for look in looks}) == len(looks)
    seen = [lab(DEUTERANOPIA @ linear(look.color)) for look in looks]
    near = [(one, two) for one in range(len(looks)) for two in range(one) if np.linalg.norm(seen[one] - seen[two]) < 10]
    assert near == []


def test_a_verdict_has_no_hue_of_a_model():
    assert not {look.color for look in palette.VERDICTS.values()} & {look.color for look in palette.MODELS}


def test_ordered_colours_go_from_dark_to_light():
    lightness = [lab(linear(color))[0] for color in palette.ordered(5)]
    assert (np.diff(lightness) > 5).all() and lightness[-1] < 85


def linear(color):
    values = np.array(matplotlib.colors.to_rgb(color))
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def lab(light):
    xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]) @ light
    x, y, z = np.cbrt(np.maximum(xyz / [0.9505, 1.0, 1.089], 0))
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])
