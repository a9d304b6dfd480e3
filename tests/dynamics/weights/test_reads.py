"""What a read returns: exact numbers, of the rows that were asked for, in little memory - or one line."""

import os
import subprocess
import sys
from itertools import product

import numpy as np
import pytest
import torch

from dynamics.weights import safetensors_file
from dynamics.weights.reader import open_checkpoint
from dynamics.weights.safetensors_file import read, read_rows, tensors
from tests.dynamics.folders import ROOT
from tests.dynamics.refusal import refused
from tests.dynamics.weights import checkpoint_files as files
from tests.dynamics.weights.checkpoint_files import LLAMA, QUERY, SHAPES, WEIGHTS


def test_every_finite_half_is_read_exactly(tmp_path):
    bits = np.arange(65536, dtype=np.uint16)
    exact = {"F16": bits.view(np.float16).astype(np.float64)}
    exact["BF16"] = torch.from_numpy(bits.view(np.int16)).view(torch.bfloat16).double().numpy()
    for dtype, values in exact.items():
        finite = np.isfinite(values)
        header = {"x": {"dtype": dtype, "shape": [int(finite.sum())], "data_offsets": [0, 2 * int(finite.sum())]}}
        path = files.write_raw(tmp_path / f"{dtype}.safetensors", header, bits[finite].tobytes())
        got = read(tensors(path)["x"])
        assert got.dtype == np.float32
        np.testing.assert_array_equal(got.astype(np.float64), values[finite])
        assert np.array_equal(np.signbit(got), np.signbit(values[finite]))


def test_a_projection_is_read_into_the_room_that_is_given_or_refused(folder):
    checkpoint, room = open_checkpoint(folder), np.full((3, 2, 8), np.nan, np.float32)
    assert checkpoint.projection(1, "query", 1, 4, room) is room
    np.testing.assert_array_equal(room, checkpoint.projection(1, "query", 1, 4))
    for wrong in (room[:2], room.astype(np.float64), np.empty((3, 2, 16), np.float32)[..., ::2]):
        with pytest.raises(ValueError, match=r"^out has shape .*: expected \(3, 2, 8\) of float32, contiguous$"):
            checkpoint.projection(1, "query", 1, 4, wrong)


@pytest.mark.parametrize(
    ("dtype", "value"),
    [
        *product((np.float16, np.float32, np.float64), (np.nan, np.inf, -np.inf)),
        (np.float64, 1e200),
        (np.float64, 4e38),
    ],
)
def test_a_value_that_is_not_finite_in_float32_is_refused_where_it_is_read(dtype, value, folder):
    data = files.random_tensors(SHAPES)
    data[QUERY] = data[QUERY].astype(dtype)
    data[QUERY][5, 3] = value  # head 2 of 4
    gain = "model.layers.0.input_layernorm.weight"
    data[gain] = data[gain].astype(dtype)
    data[gain][0] = value
    checkpoint = open_checkpoint(files.write(folder, LLAMA, data))
    assert np.isfinite(checkpoint.projection(1, "query", 0, 2)).all()
    refused(rf"{WEIGHTS}: tensor {QUERY} holds a value that is not finite", checkpoint.projection, 1, "query", 0, 3)
    refused(r"input_layernorm.weight holds a value that is not finite", checkpoint.small, 0)


def test_a_file_that_changes_after_it_was_opened_is_refused(folder):
    checkpoint = open_checkpoint(folder)
    files.write(folder, LLAMA, files.random_tensors(SHAPES, seed=1))
    os.utime(folder / WEIGHTS, ns=(1, 1))
    refused(r"model.safetensors: the file has changed", checkpoint.projection, 0, "value", 0, 1)


RANGES = {"layer": [(2, "query", 0, 1), (-1, "query", 0, 1)], "role": [(0, "output", 0, 1)]}
RANGES["heads"] = [(0, "query", 0, 5), (0, "key", 0, 3), (0, "query", 1, 1), (0, "query", -1, 1), (0, "value", 2, 1)]


@pytest.mark.parametrize(("name", "arguments"), [(name, each) for name, some in RANGES.items() for each in some])
def test_a_layer_role_or_head_out_of_range_is_refused(name, arguments, folder):
    refused(f"{name} must be", open_checkpoint(folder).projection, *arguments)


@pytest.mark.parametrize("piece", [1, 100, 10**6])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_pieces_of_any_size_and_any_rows_give_what_safetensors_reads(piece, dtype, tmp_path, monkeypatch):
    monkeypatch.setattr(safetensors_file, "PIECE", piece)
    whole = np.random.default_rng(0).normal(size=(7, 3, 5)).astype(dtype)
    files.safetensors.numpy.save_file({"a": whole[0, 0], "b": whole, "c": whole[1, 1]}, tmp_path / WEIGHTS)
    found = tensors(tmp_path / WEIGHTS)
    np.testing.assert_array_equal(read(found["b"]), whole.astype(np.float32))
    for first, last in ((0, 1), (2, 6), (6, 7)):
        out = np.empty((last - first, 3, 5), np.float32)
        read_rows(found["b"], first, out)
        np.testing.assert_array_equal(out, whole[first:last].astype(np.float32))


def big_bloom(folder, n_layers):
    """A BLOOM of width 2048 in bfloat16, all zeros, as a sparse file; returns its size."""
    width = 2048
    shapes = {"word_embeddings.weight": (16, width)}
    names = ["word_embeddings_layernorm", "ln_f"]
    for layer in range(n_layers):
        root = f"h.{layer}."
        names += [f"{root}input_layernorm", f"{root}post_attention_layernorm"]
        for name, rows, columns in (
            ("self_attention.query_key_value", 3, 1),
            ("self_attention.dense", 1, 1),
            ("mlp.dense_h_to_4h", 4, 1),
            ("mlp.dense_4h_to_h", 1, 4),
        ):
            shapes[f"{root}{name}.weight"] = (rows * width, columns * width)
            shapes[f"{root}{name}.bias"] = (rows * width,)
    shapes |= {f"{name}.{kind}": (width,) for name in names for kind in ("weight", "bias")}
    config = {"model_type": "bloom", "hidden_size": width, "n_layer": n_layers, "n_head": 16, "vocab_size": 16}
    return files.write_zeros(folder, config, shapes).stat().st_size


# VmHWM, the peak of this process alone: ru_maxrss would begin at that of the parent.
MEASURE = """
import sys
from pathlib import Path
from dynamics.weights.reader import open_checkpoint
def peak():
    return int(next(x for x in Path("/proc/self/status").read_text().splitlines() if x.startswith("VmHWM")).split()[1])
before = peak()
checkpoint = open_checkpoint(sys.argv[1])
for layer in range(checkpoint.architecture.n_layers):
    checkpoint.small(layer)
    for role in ("query", "key", "value"):
        for head in range(0, 16, 4):
            checkpoint.projection(layer, role, head, head + 4)
print(peak() - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_memory_of_the_process_does_not_grow_with_the_file(tmp_path):
    assert big_bloom(tmp_path, 10) > 1e9
    told = subprocess.check_output([sys.executable, "-c", MEASURE, str(tmp_path)], cwd=ROOT, text=True)
    assert int(told) < 20 * 1024  # KiB: 4 heads are 4 MiB, all that is read 240 MiB
