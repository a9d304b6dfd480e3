"""The two laws of the initial coefficients."""

import pytest
import torch

from dynamics.model.coefficients import initial
from dynamics.model.config import ModelConfig
from dynamics.model.decoder import InductionModel

ROWS = 40_000


def _drawn(window, law, kind="free"):
    return initial(ROWS, window, kind, torch.Generator().manual_seed(5), law).double()


@pytest.mark.parametrize(("window", "moment", "deviation"), [(2, 2 / 3, 0.149), (4, 3 / 2, 1.07)])
def test_paper_law_has_the_second_moment_of_its_window(window, moment, deviation):
    squares = (_drawn(window, "paper") ** 2).sum(1)
    assert squares.mean().item() == pytest.approx(moment, abs=4 * deviation / ROWS**0.5)


@pytest.mark.parametrize("window", [2, 4])
def test_matched_law_has_one_second_moment_for_all_windows(window):
    drawn = _drawn(window, "matched")
    assert drawn.shape == (ROWS, window) and bool((drawn >= 0).all())
    assert torch.allclose(drawn.sum(1), torch.ones(ROWS, dtype=torch.float64))
    assert (drawn**2).sum(1).mean().item() == pytest.approx(2 / 3, abs=4 * 0.205 / ROWS**0.5)
    assert drawn.mean(0).tolist() == pytest.approx([1 / window] * window, abs=4 * 0.4 / ROWS**0.5)


def test_laws_of_window_two_draw_the_same_numbers():
    for kind in ("free", "gate", "clip"):
        assert torch.equal(_drawn(2, "paper", kind), _drawn(2, "matched", kind))
    assert _drawn(1, "matched").eq(1).all()


def test_configured_law_reaches_every_layer():
    config = ModelConfig(vocab=16, width=8, n_heads=2, n_layers=2, window=4, initial="matched")
    model = InductionModel(config, torch.Generator().manual_seed(0))
    for block in model.blocks:
        for mixture in (block.attention.alpha, block.attention.beta):
            assert bool((mixture >= 0).all()) and torch.allclose(mixture.sum(1), torch.ones(2))
