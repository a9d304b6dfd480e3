"""A training that is observed against the same training that is not: what the log costs, and that it changes nothing.

Both take the same steps in turn. Seconds are of a step; those of the observed one hold all its observations, so they
are means over the whole run and not medians, in which a few dear steps would be lost.
"""

import time
from collections.abc import Callable

import torch
from torch.nn import functional as F

from benchmarks.row import Comparison, Guard, Limit, Row
from dynamics.model.config import ModelConfig
from dynamics.model.decoder import InductionModel
from dynamics.observed.observer import SHARE, Observer
from dynamics.observed.probe import make_probe

_SIZES = {"vocab": 1000, "width": 256, "n_heads": 4, "n_layers": 4, "mlp_width": 704}
_QUICK = {"vocab": 50, "width": 16, "n_heads": 2, "n_layers": 1}
_FLOOR = 0.95  # 1 / (1 + SHARE) but for the noise of some thirty steps
_OVER = 1.05  # the share is kept but for what the last observation took more than was foreseen


def measure(quick: bool) -> Row:
    rows, length, wanted = (2, 16, 3) if quick else (4, 256, 8)
    models = {name: model_of(_QUICK if quick else _SIZES) for name in ("bare", "observed")}
    steps = {name: stepper(model, rows, length) for name, model in models.items()}
    share = 0.2 if quick else SHARE
    probe = make_probe(models["observed"], k=8 if quick else None)
    observer = Observer(models["observed"], probe, share=share, clock=time.process_time)
    seconds: dict[str, list[float]] = {name: [] for name in models}
    for step in steps.values():  # one round to warm up
        step()
    while len(observer.lines) < wanted:
        seconds["bare"].append(_timed(steps["bare"]))
        seconds["observed"].append(_timed(lambda: observer.step(len(seconds["bare"])), steps["observed"]))
    bare, observed = (sum(seconds[name]) / len(seconds[name]) for name in ("bare", "observed"))
    dearest = max(line.seconds for line in observer.lines[1:])
    return Row(
        "observer",
        [Comparison("the step without it", bare, observed, bare / observed, _FLOOR, 1 / (1 + share))],
        [
            Limit("its share of the time", observer.lines[-1].share / share, None if quick else _OVER),
            Limit("a step, one observation", dearest / bare),
        ],
        [Guard("gap of the weights", _gap(models), 0.0)],
    )


def _timed(*parts: Callable[[], object]) -> float:
    start = time.process_time()
    for part in parts:
        part()
    return time.process_time() - start


def model_of(sizes: dict) -> InductionModel:
    return InductionModel(ModelConfig.checked(sizes), torch.Generator().manual_seed(0))


def stepper(model: InductionModel, rows: int, length: int) -> Callable[[], None]:
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    tokens = torch.randint(model.config.vocab, (rows, length + 1), generator=torch.Generator().manual_seed(0))

    def run() -> None:
        loss = F.cross_entropy(model(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    return run


def _gap(models: dict[str, InductionModel]) -> float:
    pairs = zip(models["bare"].parameters(), models["observed"].parameters(), strict=True)
    return max((one - other).detach().abs().max().item() for one, other in pairs)
