"""The command heads: its answer is the library's, in words, in JSON and on a map; any causal model is opened."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from dynamics.heads.found import find
from dynamics.heads.kinds import KINDS
from tests.dynamics.folders import saved
from tests.dynamics.heads.planted import planted
from tests.dynamics.hf import models, undeclared
from tests.scripts.commands import read


@pytest.fixture
def here(here):
    """A folder with two models of ours, one of them with planted heads, and two of transformers."""
    for name, loud in (("planted", 6.0), ("idle", 0.0)):
        model = planted({(1, 1): "shift"}, loud=loud, n_kv_heads=2)
        saved(here / name, model)
    models.model("bert", dtype=None).save_pretrained(here / "bert")
    (here / "ids").write_text("1 2 3 4 5 6 7 " * 9)
    return here


def test_the_command_says_what_the_library_finds(here, done):
    line = "planted --quiet --tokens ids --seeds 3 --exclude 0,7 --json x.json --figure map"
    printed, text = done("heads", *line.split()), np.tile(np.arange(1, 8), 9)
    found = find(planted({(1, 1): "shift"}, n_kv_heads=2), seeds=3, excluded=(0, 7), text=[text])
    lines = printed.splitlines()
    assert lines[0] == found.why == "1 induction head (layer.head): 1.1; retrieval: 1.1"
    assert lines[1] == "a cache plan should keep these key-value heads whole: 1.0"
    rows = {tuple(line.split()[:2]): line.split()[2:] for line in lines}
    score = found.scores["induction"]
    assert rows["induction", "1.1"][:2] == [f"{score.mean[1, 1]:.3f}", f"{score.even:.3f}"]
    assert rows["induction", "1.1"][-3:] == ["3/3", "**", "needed"] and max(map(len, lines)) <= 120
    written = read("x.json")
    assert written["answer"] == found.why and written["excluded"] == [0, 7] and written["versions"]["torch"]
    assert_allclose(written["found"]["scores"]["retrieval"]["seeds"], found.scores["retrieval"].seeds)
    with np.load("map.npz") as data:
        assert data["kinds"].tolist() == [*KINDS, "key 0"] and data["chosen"].sum() == 2
        assert_allclose(data["score"][0], score.mean)


def test_nothing_found_is_an_answer(here, done, refused):
    printed = done("heads", "idle", "--seeds", "2", "--quiet")
    assert printed.startswith("no induction heads found (not needed: the attention of 1.1 to the right key); the ")
    assert "does not copy" in printed and "\na cache plan should keep no head whole\n" in printed
    refused("heads bert --quiet --json x.json", "every token of this model sees all (an encoder)")


def test_a_family_that_is_not_declared_is_known_by_what_it_returns(here, done, command):
    import transformers

    shape = undeclared.FAMILIES["Starcoder2"] | {"vocab_size": 64, "eos_token_id": None}
    config = transformers.Starcoder2Config(**shape)
    transformers.AutoModelForCausalLM.from_config(config).save_pretrained(here / "stranger")
    status, printed, told = command("heads", "stranger", "--seeds", "1")
    assert status == 0 and "no induction heads found" in printed and "at most about" in told
