"""The example runs, and tells what it is about."""

import re
import runpy
from pathlib import Path

import pytest
import torch

from dynamics.heads.theorem import gains
from dynamics.model.config import SMALL
from dynamics.model.decoder import build
from dynamics.tasks.induction import Induction
from dynamics.training.batches import heldout_rows
from dynamics.training.settings import TrainConfig

EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "observed_training.py"
ROW = r"^ +(\d+) +0\.\d{3} +(-?\d+\.\d{3}) +(-?\d+\.\d{3})$"


def test_the_example_observes_its_training(capsys):
    runpy.run_path(str(EXAMPLE))["main"](20)
    told = capsys.readouterr().out
    rows = re.findall(ROW, told, re.MULTILINE)
    assert [int(step) for step, *_ in rows] == list(range(0, 21, 2)) and "of the training's time" in told
    start = build(SMALL.but(mlp_width=0), torch.Generator().manual_seed(0))
    attention, rest = start.blocks[0].attention, heldout_rows(TrainConfig(task=Induction(pool=12)), SMALL.vocab, 256)
    alpha2, beta1 = attention.alpha_mix()[:, 1].tolist(), attention.beta_mix()[:, 0].tolist()
    products = [(key * a, value * b) for (key, value), a, b in zip(gains(start, rest), alpha2, beta1, strict=True)]
    assert any(pytest.approx(pair, abs=6e-4) == tuple(map(float, rows[0][1:])) for pair in products)
    assert rows[0][1:] != rows[-1][1:]
