"""The training figure: data against the theorem by hand, marks and words, runs in every state, refusals."""

import math
import shutil
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from matplotlib.colors import to_rgba
from numpy.testing import assert_allclose

from dynamics.model.config import ModelConfig
from dynamics.observed.log import read_lines, write_lines
from dynamics.observed.task import logged
from dynamics.tasks.hop import Hop
from dynamics.tasks.induction import Induction, length_law
from dynamics.training import loop
from dynamics.training.folder import train_into
from dynamics.training.settings import TrainConfig
from scripts.figures.trained import fig_training
from tests.dynamics.interruption import interrupt
from tests.scripts.commands import drawn
from theory import landscape

MODEL = {"vocab": 24, "width": 8, "n_heads": 2}
SETTINGS = {"steps": 6, "batch": 8, "learning_rate": 0.05, "heldout_rows": 16, "task": Induction(pool=12)}
RUNS = {
    "seeds/1/kv": ({}, {"seed": 1}),
    "seeds/0/kv": ({"mlp_width": 8, "n_heads": 4}, {"steps": 4}),
    "vanilla": ({"shift": "none", "n_layers": 2}, {}),
    "other": ({}, {"task": Induction(pool=9)}),
    "hop": ({}, {"task": Hop(symbols=5, length=12)}),
    "killed": ({}, {}),
}


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    """A folder of runs that observed every step; one was killed in its fourth, while it wrote a line of its log."""
    here = tmp_path_factory.mktemp("runs")
    for name, (model, settings) in RUNS.items():
        with pytest.MonkeyPatch.context() as patch:
            interrupt(patch, loop, "train_step", 4 if name == "killed" else 0)
            try:
                config, training = ModelConfig(**MODEL | model), TrainConfig(**SETTINGS | settings)
                log = logged(here / name / "log.jsonl", training, None)
                train_into(here / name, config, training, device="cpu", progress=False, each=log)
            except KeyboardInterrupt:
                with (here / name / "log.jsonl").open("a") as log:
                    log.write('{"step": 4, "al')
    return here


def data_of(*paths, **settings):
    return fig_training.compute(*fig_training.read(paths), 9, **settings)


def panels(data):
    return fig_training.draw(data).axes


@pytest.fixture(scope="module")
def data(here):
    return data_of(here / "seeds")


def test_data_are_the_theorems_losses_at_gains_times_coefficients(here, data):
    assert data.names.tolist() == ["0/kv", "1/kv"] and data.steps[1].tolist() == list(range(7))
    law, line, best = length_law(12)[2:12], read_lines(here / "seeds/1/kv/log.jsonl")[-1], []
    for head, ((key, value), a, b) in enumerate(zip(line.gain, line.alpha[0], line.beta[0], strict=True)):
        theta = key * a[0], key * a[1], value * b[0], value * b[1]
        losses = landscape.loss(*theta, np.arange(2, 12), "mean")
        assert_allclose(data.theta[1, 6, head], theta)
        assert_allclose(data.own[1, 6, head], losses[3])
        assert_allclose(data.distance[1, 6, head], math.sqrt(theta[0] ** 2 + theta[3] ** 2))
        best.append(law @ losses / law.sum())
    assert_allclose(data.best[1, 6], min(best), rtol=1e-6)
    measured = [*line.losses, data.predicted[1, 6]]
    assert_allclose(data.gaps[1], [one - other for one, other in pairwise(measured)])
    assert np.isnan(data.steps[0, 5:]).all() and np.isnan(data.theta[1, :, 2:]).all()


def test_the_map_is_the_theorems_loss_about_all_heads_at_the_tokens_given(here, data):
    assert data.tokens == 5
    found = data_of(here / "seeds", tokens=9)
    loss = landscape.loss(0, found.key[3], found.value[7], 0, 9, "mean")
    assert_allclose([found.map[3, 7], found.guess], [loss, math.log(9)])
    for axis, number in ((found.key, 1), (found.value, 2)):
        assert axis[0] < np.nanmin(found.theta[..., number]) and axis[-1] > np.nanmax(found.theta[..., number])
    plane, bar = panels(found)[:2]
    assert "T=9$" in plane.get_title() and f"{math.log(9):.2f}" in bar.texts[0].get_text()


def marks(data, look):
    """How many marks of the map have a face of this colour."""
    found = [one.get_facecolors() for one in panels(data)[0].collections[2:]]
    return sum(np.isclose(face, look).all() for faces in found for face in faces)


def test_a_mark_is_hollow_off_the_plane_and_has_the_colour_of_its_own_loss(data):
    white, heads = to_rgba("white"), 5 * 4 + 7 * 2
    assert marks(data._replace(distance=0 * data.distance), white) == 0
    off = 0 * data.distance
    off[0, :2] = 1.01
    assert marks(data._replace(distance=off), white) == 8
    near, below = (data._replace(distance=0 * off, own=0 * off + factor * data.guess) for factor in (1.01, 0.99))
    colours = [panels(one)[0].collections[-1].get_facecolors()[0] for one in (near, below)]
    assert marks(near, colours[0]) == marks(below, colours[1]) == heads and marks(near, colours[1]) == 0


def test_only_heads_that_attend_to_the_successor_end_in_a_star(data):
    chosen = data._replace(successor=np.array([[0.6, 0.4, 0.1, 0], [0.9, 0.2, np.nan, np.nan]]))
    ends = panels(chosen)[0].collections[3::2]
    assert [len(one.get_paths()[0].vertices) == 11 for one in ends] == [True, False, False, False, True, False]


def test_words_say_the_distance_what_is_outside_and_where_a_run_stands(here, data):
    farthest = max(data.distance[0, 4].max(), np.nanmax(data.distance[1, 6]))
    assert f"up to {farthest:.2g} off this plane" in panels(data)[0].get_title()
    assert "2 runs\noutside the theorem: MLP" in panels(data)[2].get_title()
    names = [text.get_text() for text in panels(data)[2].get_legend().get_texts()]
    assert names[4:] == ["0/kv", "1/kv"]
    killed = data_of(here / "killed")
    assert panels(killed)[2].get_title().endswith("\nkilled: step 3 of 6")
    assert killed.steps.tolist() == [[0, 1, 2, 3]]
    assert f"{killed.gaps[0, 0]:+.3f}" in panels(killed)[3].get_yticklabels()[0].get_text()
    many = panels(data_of(*[here / "seeds"] * 4))[2]
    assert "8 runs" in many.get_title() and len(many.get_legend().get_texts()) == 4


def test_lines_without_numbers_are_left_out(here, tmp_path):
    shutil.copytree(here / "seeds/1/kv", tmp_path / "x")
    lines = read_lines(tmp_path / "x/log.jsonl")
    lines[2] = lines[2].model_copy(update={"losses": (None,) * 5})
    lines[5:] = [line.model_copy(update={"gain": ((None, 1.0),) * 2}) for line in lines[5:]]
    write_lines(tmp_path / "x/log.jsonl", lines)
    found = data_of(tmp_path)
    assert found.steps.tolist() == [[0, 1, 2, 3, 4]] and np.isnan(found.losses[0, 2]).all() and panels(found)


def test_runs_are_drawn_into_their_files(here, tmp_path):
    drawn(tmp_path, "fig_training", str(here / "seeds"), "--quick", "--tokens", "6")
    with np.load(tmp_path / "one.npz") as data:
        assert data["tokens"] == 6


REFUSED = {
    "vanilla": "vanilla: its heads have no coordinates: 2 layers, shift none",
    "hop": "hop: its heads have no coordinates: task hop",
    "seeds other": "all runs must have one pool, got 12 in ",
    "damaged": "damaged/log.jsonl, line 1",
    "diverged": "diverged/log.jsonl: no line with gains",
}


@pytest.mark.parametrize("line", REFUSED)
def test_runs_that_are_not_on_the_map_are_refused(here, monkeypatch, refused, line):
    monkeypatch.chdir(here)
    for name, text in (("damaged", '{"step": "x"}\n'), ("diverged", '{"step": 1}\n')):
        shutil.copytree("killed", name, dirs_exist_ok=True)
        Path(name, "log.jsonl").write_text(text)
    refused(f"fig_training {line} --out x/", REFUSED[line])
    assert not Path("x").exists()
