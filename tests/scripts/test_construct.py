"""`construct` answers in its first line, in JSON and by its exit status."""

import numpy as np

from tests.scripts.commands import read
from theory.induction.constructed import paper_matrices


def test_the_answer_and_the_closest_input_are_printed_and_written(tmp_path, done):
    said = done("construct", "appA", "--length", 9, "--json", tmp_path / "r.json").splitlines()
    assert said[0] == "Theorem 3.2 holds here (tokens in [-1, 1]^d): error 0.00805, bound 0.00805 (0.9998 of it)"
    rows = read(tmp_path / "r.json")["rows"]
    closest = max(rows, key=lambda row: row["share"])
    assert np.shape(closest["x"]) == (9, 6) and f"m = {closest['slope']!r}" in said[-2]


def test_matrices_that_leave_the_theorem_are_named_with_status_1(tmp_path, command):
    np.savez(tmp_path / "m.npz", **paper_matrices(6, sigma=1.0))
    status, said, _ = command("construct", "thm3.2", "--sigma", 0.5, "--matrices", tmp_path / "m.npz")
    first = said.splitlines()[0]
    assert status == 1 and first.startswith("Theorem 3.2 is not confirmed (tokens in ")
    assert first.endswith("; W_Q^T W_K is not (0, I/sigma; 0, 0): an entry is off by 1")
