"""Each rounding of a head by itself, as torch does it: never beyond its error, and near it at its worst."""

import pytest
import torch

from theory.alibi.rounded import UNITS, capping_error, product_error, turning_error, weight_growth

FORMATS = {"bfloat16": torch.bfloat16, "float16": torch.float16}
TRIALS = 200_000


def draw(*shape, seed=0):
    return torch.rand(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64) * 2 - 1


@pytest.mark.parametrize("form", FORMATS)
def test_a_rotation(form):
    """As transformers rotates: cosine and sine rounded, products, sums."""
    dtype = FORMATS[form]
    x, y = (1 + draw(2, TRIALS)).to(dtype)
    angle = (draw(TRIALS, seed=1) * 100).float()
    cos, sin = angle.cos().to(dtype), angle.sin().to(dtype)
    run = torch.stack([(x * cos) + (-y * sin), (y * cos) + (x * sin)]).double()
    x, y, angle = x.double(), y.double(), angle.double()
    exact = torch.stack([x * angle.cos() - y * angle.sin(), y * angle.cos() + x * angle.sin()])
    share = ((run - exact).norm(dim=0) / torch.hypot(x, y)).max() / turning_error(UNITS[form])
    assert 0.5 < share <= 1


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("cast", [False, True])
def test_a_norm_with_a_gain_then_a_projection_with_a_bias(form, cast):
    """A state of RMSNorm, one row: rounded before the gain, after it, after the sum, and after the bias."""
    dtype, width = FORMATS[form], 3
    worst = 0.0
    for seed in range(4):
        hidden = draw(TRIALS, width, seed=seed).to(dtype)
        weight, gain = 1.5 + draw(2, width, seed=seed + 9) / 3
        bias = 0.7 + draw(1, seed=seed + 19) / 3
        if not cast:
            weight, gain, bias = (a.to(dtype).double() for a in (weight, gain, bias))
        wide = hidden.float()
        state = gain.to(dtype) * (wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True))).to(dtype)
        run = (state.float() @ weight.to(dtype).float()).to(dtype) + bias.to(dtype)
        unit = hidden.double()
        unit = unit / unit.square().mean(-1, keepdim=True).sqrt()
        exact = unit @ (gain * weight) + bias
        sizes = unit.abs() @ (gain * weight) + bias
        worst = max(worst, float(((run.double() - exact).abs() / sizes).max()))
    # three of the four roundings meet in a term beside the bias, and one of its own: five and one of six with a cast
    share = worst / product_error(UNITS[form], 4 + 2 * cast, 2 * width)
    assert 0.35 < share <= 1


@pytest.mark.parametrize("form", FORMATS)
def test_a_soft_cap(form):
    dtype, cap = FORMATS[form], 30.0
    logits = (draw(TRIALS) * 60).to(dtype)
    run = (torch.tanh(logits / cap) * cap).double()
    exact = cap * torch.tanh(logits.double() / cap)
    for most in (1.0, 10.0, 60.0):
        some = logits.abs() <= most
        share = (run - exact).abs()[some].max() / capping_error(cap, most, UNITS[form])
        assert 0.2 < share <= 1


@pytest.mark.parametrize("form", FORMATS)
def test_weights(form):
    logits = (draw(2000, 40) * 3).to(FORMATS[form])
    exact = torch.softmax(logits.double(), -1)
    for run in (torch.softmax(logits, -1), torch.softmax(logits.float(), -1).to(FORMATS[form])):
        share = (run.double() / exact).max() / weight_growth(UNITS[form], 40)
        assert 0.99 < share <= 1
        assert (exact / run.double()).max() <= weight_growth(UNITS[form], 40)


def test_weights_that_are_rounded_at_every_step():
    """Exponential, sum and quotient, each to float16; the context's own share is that of sums in float32."""
    logits = (draw(TRIALS, 9) * 4 - 4).half().double()
    exact = torch.softmax(logits, -1)
    powers = (logits - logits.amax(-1, keepdim=True)).exp().half().double()
    run = (powers / powers.sum(-1, keepdim=True).half().double()).half().double()
    normal = run > 2.0**-13  # below, numbers are off by more than a share
    for off in (run / exact, exact / run):
        assert 0.8 < (off[normal].max() - 1) / (weight_growth(UNITS["float16"], 9) - 1) <= 1
