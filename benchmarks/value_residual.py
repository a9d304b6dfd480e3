"""A training step of ResFormer, and of the other kinds of values, against the same step of a vanilla model."""

import torch

from benchmarks.observer import model_of, stepper
from benchmarks.row import Guard, Limit, Row, compare
from benchmarks.timing import Times, interleave
from dynamics.model.config import Neutreno, Own, Residual, Shared, Values

# ResFormer, Table 4: the width and the MLP of the 82M model; half of its layers, for the time of a run.
_SIZES = {"vocab": 1000, "width": 512, "n_heads": 8, "n_layers": 4, "mlp_width": 1792, "shift": "none"}
_QUICK = {"vocab": 50, "width": 32, "n_heads": 2, "n_layers": 2, "mlp_width": 64, "shift": "none"}
_MOST = 1.03
RULES = {"resformer": Residual(), "learnt": Residual(learnt=True), "svformer": Shared(), "neutreno": Neutreno()}


def measure(quick: bool) -> Row:
    length, rounds = (32, 2) if quick else (1024, 25)
    rules = {"resformer": RULES["resformer"]} if quick else RULES
    sizes = {name: (_QUICK if quick else _SIZES) | _of(rule) for name, rule in {"vanilla": Own(), **rules}.items()}
    times = interleave({name: stepper(model_of(one), 1, length) for name, one in sizes.items()}, rounds)
    comparisons = []
    for name in rules:
        floor = 1 / _MOST if name == "resformer" else None
        comparisons.append(compare(times, "vanilla", f"vanilla, ours {name}", floor, 1.0, name))
    low, high = interval(times, "resformer")
    limits = [
        Limit("a vanilla step, resformer", times.ratio("resformer", "vanilla"), _MOST),
        Limit("the same, low end of 95 %", low),
        Limit("the same, high end of 95 %", high, None if quick else _MOST),
    ]
    return Row("value_residual", comparisons, limits, [Guard("lambda 0 against vanilla", _gap(), 1e-6)])


def interval(times: Times, name: str) -> tuple[float, float]:
    """A 95 % interval of the median ratio to vanilla, from the order of the rounds alone (sign test)."""
    ratios = sorted(a / b for a, b in zip(times.rounds[name], times.rounds["vanilla"], strict=True))
    # The number of rounds below the median is binomial: 1.96 standard deviations of it on either side.
    low = max(0, int(len(ratios) / 2 - 0.98 * len(ratios) ** 0.5))
    return ratios[low], ratios[-1 - low]


def _of(rule: Values) -> dict:
    return {"values": rule.model_dump()}


def _gap() -> float:
    """How far ResFormer without the first layer's values is from vanilla: the two steps do the same otherwise."""
    tokens = torch.arange(20)[None]
    with torch.no_grad():
        pair = [model_of(_QUICK | _of(rule))(tokens) for rule in (Own(), Residual(lambda1=1.0, lambda2=0.0))]
    return float((pair[0] - pair[1]).abs().max())
