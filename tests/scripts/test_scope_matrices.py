"""scope --matrices: heads from an .npz file as a table and as JSON, and files that are refused."""

import json
import os
import zipfile
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from scripts import scope_matrices
from tests.scripts.commands import command, done
from tests.theory.alibi.drawn_heads import random_head
from theory import alibi

RNG = np.random.default_rng(2)
ONE = random_head(RNG, 6, 4, "layer", True)
GOOD = ONE | {"slope": 0.5}
TWO = {name: np.stack([ONE[name], 2 * ONE[name]]) for name in ("w_q", "w_k", "query_bias")}
EPS = ("--eps", "0.01")
FILE = Path("x.npz")


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("slopes", [[0.5, 0.25], 0.5], ids=["a slope a head", "one slope"])
def test_table_and_json_hold_the_scopes_of_every_head(capsys, slopes):
    np.savez("x.npz", **ONE | TWO | {"slope": slopes})
    first, *lines = done(capsys, "scope", "--matrices", "x.npz", *EPS, "--json", "x.json").splitlines()
    written = json.loads(Path("x.json").read_text())["heads"]
    found = []
    for i, slope in enumerate(np.broadcast_to(slopes, 2).tolist()):
        head = alibi.Head(**ONE)._replace(**{name: values[i] for name, values in TWO.items()})
        found.append(alibi.head_scope(head, slope, 0.01))
        assert written[i] == {"head": i, "slope": slope} | found[i]._asdict()
        cells = [str(i), *(f"{value:.6g}" for value in (slope, *found[i]))]
        assert lines[2 + i].split() == cells
    assert first.startswith(f"from distance {max(one.scope for one in found):.6g} on no token weighs more than 0.01")
    assert lines[-1] == "wrote x.json"


@pytest.mark.usefixtures("here")
def test_square_matrices_are_told_the_range_of_both_readings(capsys):
    square = random_head(RNG, 4, 4, "rms", False)
    arrays = {name: square[name].astype(np.float32) for name in ("w_q", "w_k", "gamma")}
    np.savez("x.npz", **arrays)
    printed = done(capsys, "scope", "--matrices", "x.npz", *EPS, "--slope", "0.5")
    turned = alibi.logit_range(arrays["w_q"].T, arrays["w_k"].T, arrays["gamma"])
    _, _, header, row, *rest = printed.splitlines()
    assert header.endswith("D of x @ W") and row.split()[-1] == f"{turned:.6g}" != row.split()[2]
    assert "the matrices are square" in " ".join(rest)


def written(**changes):
    return lambda: np.savez("x.npz", **{name: value for name, value in (GOOD | changes).items() if value is not None})


def cut():
    written()()
    os.truncate("x.npz", 400)


def damaged():
    np.savez("x.npz", **GOOD)
    with zipfile.ZipFile("x.npz") as archive:
        place = archive.getinfo("w_k.npy").header_offset + 200
    with open("x.npz", "r+b") as file:
        file.seek(place)
        file.write(b"\x55" * 8)


def claimed():
    """An array whose header says that it is larger than any memory."""
    np.savez("x.npz", **GOOD)
    with zipfile.ZipFile("x.npz", "a") as archive, archive.open("norm_bias.npy", "w") as member:
        np.lib.format.write_array_header_1_0(member, {"descr": "<f8", "fortran_order": False, "shape": (2**50,)})


def nan(name):
    values = np.array(GOOD[name])
    values.flat[0] = np.nan
    return written(**{name: values})


BAD = [
    ("No such file", lambda: None),
    ("Is a directory", lambda: os.mkdir("x.npz")),
    ("not a zip file", partial(FILE.write_text, "mine")),
    ("not a zip file", partial(FILE.write_bytes, b"")),
    ("not a zip file", lambda: (np.save("x.npy", np.eye(3)), os.rename("x.npy", "x.npz"))),
    ("not a zip file", cut),
    ("Bad CRC-32", damaged),
    ("['w_k'] missing or unknown: it must hold w_q, w_k, gamma", written(w_k=None)),
    ("['w_v'] missing or unknown", written(w_v=np.eye(3))),
    ("allow_pickle=False", written(w_q=np.array([{}, None], object))),
    ("w_q must be a number or an array of numbers", written(w_q=GOOD["w_q"].astype(complex))),
    ("gamma must be a number or an array of numbers", written(gamma=np.array(["a"] * 6))),
    ("w_q must be finite numbers only, got nan", nan("w_q")),
    ("query_bias must be finite numbers only, got nan", nan("query_bias")),
    ("transposed w_q and w_k", written(w_q=GOOD["w_q"].T, w_k=GOOD["w_k"].T)),
    ("gamma has shape (5,): expected (6,)", written(gamma=np.ones(5))),
    ("norm must be one of rms, layer, got 'batch'", written(norm="batch")),
    ("w_q has shape (): expected (d_head, d_model)", written(w_q=1.0)),
    ("w_q has shape (0, 4, 6): expected as many heads as w_q, at least one", written(w_q=np.ones((0, 4, 6)))),
    ("w_k has shape (4, 6): expected as many heads", written(w_q=TWO["w_q"])),
    ("slope has shape (2,): expected () or (1,)", written(slope=[0.5, 0.5])),
    ("slope must be a finite number > 0, got -0.5", written(slope=-0.5)),
    ("slope must be given once", written(slope=None)),
    ("Unable to allocate", claimed),
]


@pytest.mark.usefixtures("here")
@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize(("words", "make"), BAD, ids=[f"{i} {words}" for i, (words, _) in enumerate(BAD)])
def test_a_bad_file_is_one_line_and_nothing_is_written(capsys, words, make):
    make()
    status, printed, told = command(capsys, "scope", "--matrices", "x.npz", *EPS, "--json", "out/x.json")
    assert (status, printed, told.count("\n")) == (2, "", 1) and told.startswith("error: ") and words in told, told
    assert "x.npz" in told and not os.path.exists("out")


@pytest.mark.usefixtures("here")
def test_two_slopes_and_arrays_of_many_bytes_are_refused(capsys, monkeypatch):
    written()()
    for words in ("the slope must be given once, in the file or by --slope", "bytes, more than 500"):
        status, printed, told = command(capsys, "scope", "--matrices", "x.npz", *EPS, "--slope", "0.5")
        assert (status, printed, told.count("\n")) == (2, "", 1) and words in told
        monkeypatch.setattr(scope_matrices, "LARGEST", 500)
