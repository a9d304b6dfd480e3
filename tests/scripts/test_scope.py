"""The command scope: its table, JSON and map on small checkpoints, memory."""

import importlib
from functools import partial

import numpy as np
import pytest
import torch

from benchmarks.timing import peak_in_fresh_process
from dynamics.scope.heads import layer_scopes, settings
from dynamics.training.checkpoint import SHIPPED
from dynamics.weights.reader import open_checkpoint
from scripts.figures.heads.scope_map import Data, draw
from tests.dynamics.hf import models
from tests.dynamics.weights import checkpoint_files as files
from tests.dynamics.weights.test_layouts import M1, m1_convolutions
from tests.scripts.commands import loaded, read, told

KV_SHIFT = SHIPPED / "kv-shift"


@pytest.fixture
def llama(tmp_path):
    return files.write(tmp_path / "llama", files.LLAMA, files.random_tensors(files.llama_shapes(files.LLAMA)))


@pytest.fixture
def alibi(tmp_path):
    """Like Baichuan's 13B: ALiBi, told by the name of its longest context."""
    config = files.BAICHUAN | {"hidden_size": 16, "num_attention_heads": 8, "model_max_length": 64}
    shapes = files.baichuan_shapes(config, [48, 48])
    small = {name: 0.3 * tensor for name, tensor in files.random_tensors(shapes).items()}
    return files.write(tmp_path / "alibi", config, small)


def test_table_and_json_hold_what_the_library_returns(alibi, tmp_path, done):
    out = tmp_path / "out" / "scope.json"
    printed = done("scope", alibi, "--eps", "1e-2", "--context", "900", "--json", out)
    checkpoint = open_checkpoint(alibi)
    asked = settings(checkpoint, 1e-2, 1e-2, None, 900)
    expected = [head for layer in range(2) for head in layer_scopes(checkpoint, layer, asked)]
    written = read(out)
    assert [head["scope"] for head in written["heads"]] == [head.scope for head in expected]
    assert [head["reach"] for head in written["heads"]] == [head.reach.name for head in expected]
    assert written["settings"]["context"] == 900 and written["architecture"]["n_heads"] == 8
    assert "nothing about" not in printed and "positions ALiBi" in printed
    shorter = done("scope", alibi, "--eps", "1e-2", "--context", "100", "--json", out)
    beyond = [head.scope > 100 for head in expected]
    assert [head["beyond_context"] for head in read(out)["heads"]] == beyond and 0 < sum(beyond) < 16
    assert f"nothing about {sum(beyond)} of 16 heads" in shorter
    lines = printed.splitlines()
    assert len([line for line in lines if line.split()[:1] in (["0"], ["1"])]) == 16
    assert f"{expected[0].scope:.6g}" in lines[1] and f"{expected[0].printed_scope:.6g}" in lines[1]
    kept = sum(head.budget for head in expected)
    assert written["totals"]["kept"] == kept < written["totals"]["full"] == 16 * 900
    assert f"{kept} of {16 * 900} tokens" in printed and "% saved" in printed
    (line,) = [line for line in lines if line.startswith("arithmetic: ")]
    assert "exact arithmetic" in done("scope", "--help") and "bfloat16" in line
    assert "exact (real) arithmetic" in line and written["arithmetic"] == line.removeprefix("arithmetic: ")


@pytest.mark.parametrize(
    ("family", "positions"),
    [("gpt2", "learned"), ("opt", "learned"), ("llama", "rotary"), ("smollm3", "rotary and none")],
)
def test_where_the_weights_say_nothing_the_report_says_so_why_and_what_to_run(family, positions, tmp_path, done):
    models.model(family, dtype=torch.float32).save_pretrained(tmp_path / "model")
    printed = done("scope", tmp_path / "model", "--eps", "1e-3", "--json", tmp_path / "x.json")
    heads = read(tmp_path / "x.json")["heads"]
    assert all(head["scope"] > 1e6 and head["beyond_context"] and head["mass_window"] is None for head in heads)
    assert f"positions {positions}: context 128" in printed and printed.count("no bound") == printed.count(" unknown ")
    assert "nothing about 8 of 8 heads at this context" in printed and printed.count("> context") >= 8
    assert all(f"`{name} MODEL" in printed for name in ("sinks", "heads", "compare")) and "arXiv 2605.05602" in printed
    assert "nothing is forgotten: all " in printed and "heads unknown" in printed
    assert not any(words in printed for words in ("at most 0", "e+", "slope times position"))


def test_models_with_a_shift_show_its_coefficients(done):
    printed = done("scope", KV_SHIFT, "--eps", "1e-3")
    header, *rows = printed.splitlines()
    assert header.split()[-2:] == ["alpha", "beta"]
    assert rows[0].count("(") == 2


def test_layers_with_other_heads_and_a_window_are_read_and_drawn(tmp_path, done):
    raw = files.random_tensors(files.baichuan_shapes(M1, [16, 16, 16]) | m1_convolutions())
    model = files.write(tmp_path / "m1", M1, raw)
    printed = done("scope", model, "--eps", "0.1", "--context", "50", "--figure", tmp_path / "x")
    assert "heads masked" in printed and "heads unknown" in printed
    with np.load(tmp_path / "x.npz") as data:
        assert np.isnan(data["scope"]).any() and np.isfinite(data["scope"]).any()


def test_map_holds_a_cell_a_head_and_what_was_written_is_said_last(alibi, tmp_path, done):
    out = ["--json", tmp_path / "x.json", "--figure", tmp_path / "map"]
    printed = done("scope", alibi, "--eps", "1e-2", "--context", "900", *out)
    names = ("x.json", "map.pdf", "map.png", "map.npz")
    assert printed.splitlines()[-4:] == [f"wrote {tmp_path / name}" for name in names]
    with np.load(tmp_path / "map.npz") as data:
        assert data["scope"].shape == data["local"].shape == (2, 8)
        assert data["local"].any() and not data["local"].all()
        assert (np.diff(data["scope"][:, ::2]) > 0).all()  # the steeper the slope the shorter the scope


def test_map_without_a_bound_or_a_local_head_is_drawn():
    for cells in ([[np.inf, np.nan]], [[3.0, np.inf]], [[0.0, 5.0], [1e300, 2.0]]):
        data = Data(np.array(cells), np.zeros(np.shape(cells), bool), np.array(0.1), np.array(9), np.array("m"))
        figure = draw(data)
        figure.canvas.draw()
        assert "exact arithmetic" in figure.axes[0].get_xlabel()


def test_chosen_heads_are_those_of_the_whole_table_without_totals(alibi, tmp_path, done):
    common = [str(alibi), "--eps", "1e-2", "--context", "900", "--json"]
    done("scope", *common, tmp_path / "all.json")
    some, picture = tmp_path / "some.json", tmp_path / "map"
    printed = done("scope", *common, some, "--heads", "1.6,0.2,1.1", "--figure", picture)
    assert "3 chosen heads" in printed and "cache:" not in printed
    every, found = (read(tmp_path / name) for name in ("all.json", "some.json"))
    places = [(head["layer"], head["head"]) for head in found["heads"]]
    assert places == [(0, 2), (1, 1), (1, 6)] and found["totals"] is None
    assert found["heads"] == [head for head in every["heads"] if (head["layer"], head["head"]) in places]
    with np.load(tmp_path / "map.npz") as data:
        assert np.argwhere(np.isfinite(data["scope"])).tolist() == [list(place) for place in places]
    printed = done("scope", alibi, "--eps", "1e-2", "--heads", "1")
    assert [line.split()[0] for line in printed.splitlines()[1:9]] == ["1"] * 8


def test_certified_ranges_are_asked_for_and_named_and_not_of_weights_that_reading_rounds(here, done, refused):
    for dtype in (np.float32, np.float64):
        config = files.BAICHUAN | {"model_max_length": 64, "num_hidden_layers": 1}
        raw = files.random_tensors(files.baichuan_shapes(config, [24]))
        files.write(here / np.dtype(dtype).name, config, {name: tensor.astype(dtype) for name, tensor in raw.items()})
    printed = done("scope", "./float32", "--eps", "0.1", "--certified")
    assert "4 ranges D: upper end of an enclosure in ball arithmetic" in printed
    refused("scope ./float64 --eps 0.1 --certified", "float64 weights are rounded to float32")


def test_models_of_others_are_read_without_torch(llama):
    statuses, heavy = loaded(f"scope {llama} --eps 0.1")
    assert statuses == [0] and "torch" not in heavy


@pytest.mark.deep
def test_memory_does_not_grow_with_depth(tmp_path):
    """Checkpoints of 0.3 and 1.1 GB: at most 350 MB above start, and little between the two."""
    peaks = []
    for layers in (8, 32):
        sizes = {"hidden_size": 1024, "intermediate_size": 4096, "num_hidden_layers": layers}
        config = files.LLAMA | sizes | {"num_attention_heads": 16, "num_key_value_heads": 16}
        model = files.write_zeros(tmp_path / str(layers), config, files.llama_shapes(config))
        peaks.append(peak_in_fresh_process("tests.scripts.test_scope", "prepared", str(model.parent)) / 1e6)
    assert max(peaks) < 350
    assert abs(peaks[1] - peaks[0]) < 60


def prepared(model):
    """What the test above measures, with everything imported."""
    for name in ("dynamics.scope.totals", "scripts.commands.scope", "scripts.commands.scope_report", "tqdm"):
        importlib.import_module(name)
    return partial(told, "scope", model, "--eps", "1e-3")
