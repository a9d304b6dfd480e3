"""scope --matrices: heads from an .npz file as a table and as JSON, and files that are refused."""

from pathlib import Path

import numpy as np
import pytest

from scripts.commands import scope_matrices
from tests.scripts.commands import read
from tests.theory.alibi.drawn_heads import random_head
from theory import alibi

ONE = random_head(np.random.default_rng(2), 6, 4, "layer", True)
TWO = {name: np.stack([ONE[name], 2 * ONE[name]]) for name in ("w_q", "w_k", "query_bias")}
FILE, LINE = Path("x.npz"), "scope --matrices x.npz --eps 0.01 --json out/x.json"
pytestmark = pytest.mark.usefixtures("here")


def test_table_and_json_hold_the_scopes_of_every_head(done):
    np.savez(FILE, **ONE | TWO, slope=[0.5, 0.25])
    first, *lines = done(*LINE.split()).splitlines()
    written = read("out/x.json")["heads"]
    for i, slope in enumerate([0.5, 0.25]):
        head = alibi.Head(**ONE)._replace(**{name: values[i] for name, values in TWO.items()})
        found = alibi.head_scope(head, slope, 0.01)
        assert written[i] == {"head": i, "slope": slope} | found._asdict()
        assert lines[2 + i].split() == [str(i), *(f"{value:.6g}" for value in (slope, *found))]
    widest = max(row["scope"] for row in written)
    assert first.startswith(f"from distance {widest:.6g} on no token weighs more than 0.01 in any head")


def test_square_matrices_are_told_the_range_of_both_readings(done):
    w_q, w_k = np.float32(np.random.default_rng(2).standard_normal((2, 4, 4)))
    np.savez(FILE, w_q=w_q, w_k=w_k, gamma=np.ones(4))
    printed = done(*LINE.split(), "--slope", "0.5")
    header, row = printed.splitlines()[2:4]
    turned = f"{alibi.logit_range(w_q.T, w_k.T, np.ones(4)):.6g}"
    assert header.endswith("D of x @ W") and row.split()[-1] == turned != row.split()[2]
    assert "the matrices are square" in printed


GOOD = ONE | {"slope": 0.5}
BAD = {
    "['w_k'] missing or unknown: it must hold w_q, w_k and gamma": {"w_k": None},
    "['w_v'] missing or unknown": {"w_v": np.eye(3)},
    "allow_pickle=False": {"w_q": np.array([{}])},
    "w_q must be a number or an array of numbers": {"w_q": ONE["w_q"] + 0j},
    "query_bias must be finite numbers only, got nan": {"query_bias": np.full(4, np.nan)},
    "transposed w_q and w_k": {"w_q": ONE["w_q"].T, "w_k": ONE["w_k"].T},
    "gamma has shape (5,): expected (6,)": {"gamma": np.ones(5)},
    "norm must be one of rms, layer, got 'batch'": {"norm": "batch"},
    "at least one, got shapes [(0, 4, 6), (4, 6), (4,), (0,)]": {"w_q": np.ones((0, 4, 6))},
    "as many heads, at least one, got shapes [(1, 4, 6), (1, 4, 6), (1, 4), (2,)]": {"slope": [0.5, 0.5]},
    "slope must be a finite number > 0, got -0.5": {"slope": -0.5},
}
DAMAGED = {
    "not a zip file": lambda data: data[:400],
    "Bad CRC-32": lambda data: data.replace(ONE["w_k"].tobytes(), ONE["w_q"].tobytes()),
}


@pytest.mark.parametrize("words", [*BAD, *DAMAGED])
def test_a_bad_file_is_one_line_and_nothing_is_written(words, refused):
    np.savez(FILE, **{name: value for name, value in (GOOD | BAD.get(words, {})).items() if value is not None})
    FILE.write_bytes(DAMAGED.get(words, bytes)(FILE.read_bytes()))
    refused(LINE, "x.npz", words)
    assert not Path("out").exists()


def test_no_file_two_slopes_and_many_bytes_are_refused(monkeypatch, refused):
    refused(LINE, "No such file", "x.npz")
    np.savez_compressed(FILE, **GOOD | {"w_q": np.ones((4, 9999))})
    refused(f"{LINE} --slope 0.5", "x.npz: the slope must be given once, in the file or by --slope")
    monkeypatch.setattr(scope_matrices, "LARGEST", 5000)
    refused(LINE, "x.npz: its arrays have 32", "bytes, more than 5000")
