"""The landscape figure: its data against theory, its streamlines against their field, its files and its refusals."""

import subprocess
import sys

import numpy as np
import pytest
from matplotlib.figure import Figure
from numpy.testing import assert_allclose

from scripts.figures.landscape import fig_landscape
from scripts.figures.landscape.landscape_plot import OPTIONS, landscape_plot, levels_of
from scripts.figures.landscape.streamlines import streamlines
from tests.dynamics.refusal import refused
from tests.scripts.commands import contents
from theory import landscape
from theory.landscape.planes import field
from theory.landscape.printed import EQUATION, LISTING, loss

SMALL = ("fig_landscape", "--tokens", "5", "--format", "png", "--out")


@pytest.fixture(scope="module")
def data():
    return fig_landscape.compute((4, 12), 31)


@pytest.fixture(scope="module")
def arrays(data):
    return fig_landscape.arrays(data)


def test_data_exact_row_is_the_loss_and_its_gradient(arrays):
    a, b = arrays["alpha1"][:, None], arrays["beta1"][None]
    for column, tokens in enumerate(arrays["tokens"]):
        gradient = landscape.gradient(a, 1 - a, b, 1 - b, tokens)
        assert_allclose(arrays["loss"][0, column], landscape.loss(a, 1 - a, b, 1 - b, tokens), atol=1e-13)
        assert_allclose(arrays["d_alpha1"][0, column], gradient[..., 0] - gradient[..., 1], atol=1e-13)
        assert_allclose(arrays["d_beta1"][0, column], gradient[..., 2] - gradient[..., 3], atol=1e-13)


def test_data_other_rows_are_the_printed_forms_at_t_minus_four(arrays):
    for row, slips in ((1, EQUATION), (2, LISTING)):
        for column, tokens in enumerate(arrays["tokens"]):
            value = loss(arrays["alpha1"][7], arrays["beta1"][20], tokens - 4, slips)
            assert arrays["loss"][row, column, 7, 20] == pytest.approx(value, abs=1e-13)


def test_data_angle_is_the_arc_cosine_of_the_unit_gradients(data, arrays):
    flat = np.stack([arrays["d_alpha1"], arrays["d_beta1"]], axis=-1)
    unit = flat / np.linalg.norm(flat, axis=-1, keepdims=True)
    cosine = (unit * unit[:1]).sum(-1)
    assert_allclose(np.cos(np.radians(data.angle)), cosine, atol=1e-12)


def test_levels_of_contours_lie_inside_the_range(arrays):
    for panel in arrays["loss"].reshape(-1, 31, 31):
        levels = levels_of(panel)
        assert 5 <= levels.size <= 14 and panel.min() <= levels[0] < levels[-1] <= panel.max()


def turning_field():
    axis = np.linspace(-0.5, 0.5, 61)
    x, y = np.meshgrid(axis, axis, indexing="ij")
    return -y, x, x, y


def test_streamlines_run_and_point_downstream():
    u, v, x, y = turning_field()
    (found,) = streamlines(x[None] + 2.0, y[None] * 0, cells=8)
    for line, direction in zip(found.lines, found.directions, strict=True):
        assert (np.diff(line[:, 0]) > 0).all()
        assert_allclose(direction, [1, 0], atol=1e-12)
    (turned,) = streamlines(u[None], v[None])
    radial = turned.middles - 0.5
    assert (radial[:, 0] * turned.directions[:, 1] - radial[:, 1] * turned.directions[:, 0] > 0).all()


def test_no_streamline_turns_back_on_the_floor_of_a_narrow_valley():
    _, _, x, y = turning_field()
    (found,) = streamlines(-1e3 * x[None], np.ones_like(y)[None], cells=10)
    for line in found.lines:
        steps = np.diff(line, axis=0)
        assert ((steps[1:] * steps[:-1]).sum(-1) >= 0).all()


def test_streamlines_end_at_a_sink():
    _, _, x, y = turning_field()
    (found,) = streamlines(-x[None], -y[None], cells=8)
    assert all(np.isfinite(line).all() for line in found.lines)
    assert max(len(line) for line in found.lines) < 100


SQUARE = np.ones((1, 3, 3))


@pytest.mark.parametrize(
    ("x", "y", "cells", "words"),
    [
        (SQUARE[0], SQUARE[0], 5, "stacks"),
        (np.ones((1, 3, 4)), np.ones((1, 3, 4)), 5, "stacks"),
        (SQUARE, SQUARE, 1, "cells"),
        (np.nan * SQUARE, SQUARE, 5, "finite"),
    ],
)
def test_streamlines_refuse_malformed_fields(x, y, cells, words):
    refused(words, streamlines, x, y, cells)


@pytest.mark.parametrize(("out", "names"), [("", "fig_landscape"), ("new/mine.png", "new/mine")])
def test_main_writes_the_arrays_beside_the_figure(tmp_path, monkeypatch, done, out, names):
    monkeypatch.setattr(fig_landscape, "draw", lambda _: Figure())
    done(*SMALL, f"{tmp_path}/{out}", "--seed", "3")
    files = {f"{names}.npz", f"{names}.png"}
    assert {name for name, data in contents(tmp_path).items() if data} == files
    with np.load(tmp_path / f"{names}.npz", allow_pickle=False) as stored:
        assert list(stored) == ["tokens", "alpha1", "beta1", "loss", "d_alpha1", "d_beta1", "angle", "seed"]
        assert stored["seed"] == 3 and stored["loss"].shape == (3, 1, 101, 101)


def test_one_panel_is_a_square_of_one_column_and_more_fit_two_columns():
    for tokens, rows, width in (
        ((50,), ("exact",), 3.3),
        ((50,), fig_landscape.ROWS, 7.0),
        ((4, 8, 9, 12), ("exact",), 7.0),
    ):
        figure = fig_landscape.draw(fig_landscape.compute(tokens, 11, rows=rows))
        assert figure.get_figwidth() == width and figure.get_figheight() <= 9
        if width == 3.3:
            assert figure.get_figheight() == pytest.approx(3.3)


def test_a_row_without_values_says_why_and_the_others_are_drawn():
    figure = fig_landscape.draw(fig_landscape.compute((1000,), 11))
    words = [" ".join(" ".join(text.get_text().split()) for text in panel.texts) for panel in figure.axes[:3]]
    assert "overflows beyond T = 504" in words[2] and "overflows" not in words[0] + words[1]


PLANE = {"axes": ("beta1", "beta2"), "box": (-2, 4, -2, 2), "fixed": {"alpha1": 0, "alpha2": 1}, "size": 21}


@pytest.fixture(scope="module")
def plane_field():
    return field(n_tokens=12, **PLANE)


@pytest.mark.parametrize("layer", [name for name in OPTIONS if name != "labels"])
def test_a_layer_can_be_switched_and_returns_its_artists(plane_field, layer):
    needed = {"flow": {"starts": [[0.0, 1.0]], "t_end": 10.0}, "points": {"theta": [[0.0, 1.0, 0.5, 0.5]]}}
    given = needed.get(layer, True)
    off = dict.fromkeys(OPTIONS, False)
    assert landscape_plot(plane_field, **off) == {}
    found = landscape_plot(plane_field, **(off | {layer: given}))
    assert list(found) == [layer] and (found[layer] or layer in ("separatrices", "critical"))


def test_paths_of_the_flow_are_dashed_where_they_leave_the_plane(plane_field):
    options = {"starts": [[0.0, 1.0]], "t_end": 1e3}
    artists = landscape_plot(plane_field, flow=options, descent=False)["flow"]
    dashed, solid, _ = artists
    assert np.isfinite(dashed.get_xdata()).sum() > np.isfinite(solid.get_xdata()).sum() > 1
    assert dashed.get_linestyle() == "--" and solid.get_linestyle() == "-"


def test_the_default_figure_loads_neither_flows_nor_proofs():
    code = (
        "import sys; from scripts.figures.landscape import fig_landscape as f; f.draw(f.compute((9,), 11))\n"
        "sys.exit(str({'dynamics', 'proofs_check', 'sympy', 'scipy', 'torch'} & set(sys.modules) or ''))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stderr.strip() == ""


def test_a_path_that_cannot_be_followed_is_left_out_with_a_warning(plane_field, monkeypatch):
    from dynamics.flow import trajectories

    lost = trajectories.gradient_flow([[0, 1, 0, 1]], 12, 1.0)
    stuck = trajectories.Trajectory(**{**vars(lost), "status": (trajectories.Status.STUCK,)})
    monkeypatch.setattr(trajectories, "gradient_flow", lambda *_, **__: stuck)
    with pytest.warns(UserWarning, match="start 1 is left out"):
        assert landscape_plot(plane_field, flow={"starts": [[0.0, 1.0]]})["flow"] == []


@pytest.mark.parametrize(
    ("layers", "words"),
    [
        ({"contours": {"level": 3}}, "contours has no option 'level'"),
        ({"flow": {"starts": [1, 2]}}, "shape"),
        ({"points": {"theta": [[0, 0, 0]]}}, "shape"),
        ({"points": {"theta": [[0, np.nan]]}}, "finite"),
        ({"streamplot": True}, "streamplot"),
    ],
)
def test_layers_refuse_unknown_names_and_options_and_other_shapes(plane_field, layers, words):
    with pytest.raises((ValueError, TypeError), match=words):
        landscape_plot(plane_field, **layers)


def test_main_draws_a_plane_of_ones_own(here, done):
    np.save("starts.npy", np.array([[0.5, 0.5], [-1.0, 1.5]]))
    line = "--axes beta1 beta2 --fix alpha1=0 alpha2=1 --box -2 4 -2 2 --position end --rows exact --tokens 12"
    files = "--critical --start starts.npy --format png --out mine"
    done("fig_landscape", *line.split(), *files.split())
    with np.load("mine.npz", allow_pickle=False) as stored:
        assert stored["flow"].tolist() == [[0, 1, 0.5, 0.5], [0, 1, -1, 1.5]] and stored["position"] == "12"
        exact = landscape.loss(0, 1, stored["beta1"][3], stored["beta2"][7], 12, 12)
        assert stored["loss"][0, 0, 3, 7] == pytest.approx(exact, abs=1e-14)


def test_a_constant_loss_has_no_contours_no_streamlines_and_no_critical_points():
    data = fig_landscape.compute(
        (12,),
        11,
        rows=("exact",),
        axes=("alpha1", "alpha2"),
        box=(-1.0, 1.0, -1.0, 1.0),
        fixed={"beta1": "0", "beta2": "0"},
        critical=True,
    )
    (panel,) = fig_landscape.draw(data).axes
    assert data.proved == [[]] and "2.48491 everywhere" in panel.get_title()
    assert [len(artist.get_paths()) for artist in panel.collections] == [0, 0]
