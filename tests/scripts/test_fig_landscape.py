"""The landscape figure: its data against theory, its streamlines against their field, its files and its refusals."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from scripts import fig_landscape
from scripts.cli import run
from scripts.streamlines import streamlines
from tests.scripts.commands import drawn
from theory import landscape
from theory.landscape.printed import EQUATION, LISTING, loss

SMALL = ["--tokens", "5", "--format", "png"]


@pytest.fixture(scope="module")
def data():
    return fig_landscape.compute((4, 12), 31)


def test_data_exact_row_is_the_loss_and_its_gradient(data):
    a, b = data.alpha1[:, None], data.beta1[None]
    for column, tokens in enumerate(data.tokens):
        gradient = landscape.gradient(a, 1 - a, b, 1 - b, tokens)
        np.testing.assert_allclose(data.loss[0, column], landscape.loss(a, 1 - a, b, 1 - b, tokens), atol=1e-13)
        np.testing.assert_allclose(data.d_alpha1[0, column], gradient[..., 0] - gradient[..., 1], atol=1e-13)
        np.testing.assert_allclose(data.d_beta1[0, column], gradient[..., 2] - gradient[..., 3], atol=1e-13)


def test_data_other_rows_are_the_printed_forms_at_t_minus_four(data):
    for row, slips in ((1, EQUATION), (2, LISTING)):
        for column, tokens in enumerate(data.tokens):
            value = loss(data.alpha1[7], data.beta1[20], tokens - 4, slips)
            assert data.loss[row, column, 7, 20] == pytest.approx(value, abs=1e-13)


def test_data_angle_of_the_listing_is_the_one_that_is_told(data):
    assert data.angle[2, 0].mean() == pytest.approx(61.5, abs=1.0)


def test_data_angle_is_the_arc_cosine_of_the_unit_gradients(data):
    flat = np.stack([data.d_alpha1, data.d_beta1], axis=-1)
    unit = flat / np.linalg.norm(flat, axis=-1, keepdims=True)
    cosine = (unit * unit[:1]).sum(-1)
    np.testing.assert_allclose(np.cos(np.radians(data.angle)), cosine, atol=1e-12)


def test_panels_have_several_contour_levels_inside_the_range(data):
    from scripts.landscape_panels import _levels

    for panel in data.loss.reshape(-1, 31, 31):
        levels = _levels(panel)
        assert 5 <= levels.size <= 14
        assert levels[0] >= panel.min() and levels[-1] <= panel.max()


def test_contours_of_the_exact_loss_have_labels_that_grow_from_the_induction_head(data):
    for column, tokens in enumerate(data.tokens):
        panel = fig_landscape.draw(data).axes[column]
        found = {float(text.get_text()): np.hypot(*(np.array(text.get_position()) - (0, 1))) for text in panel.texts}
        assert len(found) == 3, tokens
        for level in found:
            assert data.loss[0, column].min() <= level <= data.loss[0, column].max()
        assert min(found, key=found.get) == min(found)


def turning_field(size=61):
    x, y = np.meshgrid(np.linspace(-0.5, 0.5, size), np.linspace(-0.5, 0.5, size), indexing="ij")
    return -y, x, x, y


def test_streamlines_of_a_rotation_are_circles():
    u, v, _, _ = turning_field()
    (found,) = streamlines(u[None], v[None], cells=10)
    assert len(found.lines) > 4
    for line in found.lines:
        radius = np.hypot(*(line - 0.5).T)
        assert np.ptp(radius) < 2e-3


def test_streamlines_run_and_point_downstream():
    u, v, x, y = turning_field()
    (found,) = streamlines(x[None] + 2.0, y[None] * 0, cells=8)
    for line, direction in zip(found.lines, found.directions, strict=True):
        assert (np.diff(line[:, 0]) > 0).all()
        np.testing.assert_allclose(direction, [1, 0], atol=1e-12)
    (turned,) = streamlines(u[None], v[None])
    radial = turned.middles - 0.5
    assert (radial[:, 0] * turned.directions[:, 1] - radial[:, 1] * turned.directions[:, 0] > 0).all()


def test_streamlines_stay_inside_and_no_two_share_a_cell():
    u, v, _, _ = turning_field()
    (found,) = streamlines(u[None], v[None], cells=10)
    cells = [set(map(tuple, np.minimum((line * 10).astype(int), 9))) for line in found.lines]
    assert all((line >= 0).all() and (line <= 1).all() for line in found.lines)
    assert sum(map(len, cells)) == len(set().union(*cells))


def test_streamlines_end_at_a_sink():
    _, _, x, y = turning_field()
    (found,) = streamlines(-x[None], -y[None], cells=8)
    assert all(np.isfinite(line).all() for line in found.lines)
    assert max(len(line) for line in found.lines) < 100


@pytest.mark.parametrize(
    ("x", "y", "cells"),
    [((3, 3), (3, 3), 5), ((1, 3, 3), (1, 3, 4), 5), ((1, 3, 4), (1, 3, 4), 5), ((1, 3, 3), (1, 3, 3), 1)],
)
def test_streamlines_refuse_malformed_fields(x, y, cells):
    with pytest.raises(ValueError, match=r"stacks|cells"):
        streamlines(np.ones(x), np.ones(y), cells)


def test_streamlines_refuse_what_is_not_finite():
    with pytest.raises(ValueError, match="finite"):
        streamlines(np.full((1, 3, 3), np.nan), np.ones((1, 3, 3)), 5)


def test_main_leaves_its_files(tmp_path, data):
    drawn(tmp_path, "fig_landscape", "--tokens", "5", data=data)


@pytest.mark.parametrize(("out", "names"), [("", "fig_landscape"), ("new/mine.png", "new/mine")])
def test_main_writes_the_arrays_beside_the_figure(tmp_path, monkeypatch, out, names):
    monkeypatch.setattr(fig_landscape, "draw", lambda _: Figure())
    assert run(fig_landscape.main, [*SMALL, "--out", f"{tmp_path}/{out}", "--seed", "3"]) == 0
    found = sorted(path for path in tmp_path.rglob("*") if path.is_file())
    assert found == [tmp_path / f"{names}.npz", tmp_path / f"{names}.png"]
    with np.load(found[0], allow_pickle=False) as stored:
        assert set(stored) == set(fig_landscape.Data._fields)
        assert stored["seed"] == 3 and stored["loss"].shape == (3, 1, 101, 101)


def test_main_interrupted_while_drawing_leaves_nothing(tmp_path, monkeypatch, capsys):
    def interrupt(data):
        raise KeyboardInterrupt

    monkeypatch.setattr(fig_landscape, "draw", interrupt)
    assert run(fig_landscape.main, [*SMALL, "--out", str(tmp_path / "figure")]) == 130
    assert not list(tmp_path.iterdir())
