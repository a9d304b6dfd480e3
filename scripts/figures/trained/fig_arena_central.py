"""Vanilla, KV shift, ResFormer and both at three sizes; and whether a shift gains by looking across documents.

(a) Loss against parameters, means and spreads over paired seeds, a power law fitted seed by seed. (b) A document's
first token is mixed with nothing (zero), with the last token before it (carried), or with a learnt vector (learnt);
vanilla has no such start, so that "carried / zero" is what the gain gains by it: the difference of the differences.
Attention never leaves a document; one follows an unrelated one, or continues it.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dynamics.arena.bundle import shipped_arena
from dynamics.arena.league import lines, outcome, smallest
from dynamics.arena.presets import WIDTHS, at
from dynamics.arena.scaling import fit
from dynamics.model.sizes import parameters

from .arena_panels import draw_central

QUICK_SIZE, FULL_SIZE = 8, 100
UNIT = "seeds at most"
MODELS = ("vanilla", "kv-shift", "resformer", "kv-shift+resformer")
PACKINGS = {"documents": "unrelated", "cut": "continued"}  # what the document before is
draw = draw_central


class Data(NamedTuple):
    """Panel (a): models, losses (model, seed, size), laws (model, 5); panel (b): a row a comparison."""

    models: NDArray
    parameters: NDArray  # (size,), of vanilla
    losses: NDArray
    laws: NDArray  # exponent, its low and high end, scale, middle
    names: NDArray
    ends: NDArray  # (comparison, 3): low, mean, high
    outcomes: NDArray
    smallest: NDArray


def compute(size: int = FULL_SIZE) -> Data:
    """From the shipped arena, at most `size` of its seeds for panel (a)."""
    bundle = shipped_arena("league")
    counts = np.array([parameters(bundle.plan.entries[at(MODELS[0], width)].config) for width in WIDTHS])
    each = [[bundle.losses[at(name, width)] for width in WIDTHS] for name in MODELS]
    seeds = min(size, *(len(losses) for of_model in each for losses in of_model))
    losses = np.array([[losses[:seeds] for losses in of_model] for of_model in each]).swapaxes(1, 2)
    laws = [fit(counts, one) for one in losses]
    found, x = {line.name: line for line in lines(bundle)}, smallest(bundle.plan)
    rows = {words: found[name] for words, name in leak_rows().items() if name in found}
    return Data(
        models=np.array(MODELS),
        parameters=counts,
        losses=losses,
        laws=np.array([(*law.exponent, law.scale.value, law.middle) for law in laws]),
        names=np.array(list(rows)),
        ends=np.array([(line.low, line.difference, line.high) for line in rows.values()]),
        outcomes=np.array([outcome(line, x) for line in rows.values()]),
        smallest=np.array(x),
    )


def leak_rows() -> dict[str, str]:
    """Words of a row -> the comparison's name in the plan."""
    rows = {}
    for packing, words in PACKINGS.items():
        cut = packing == "cut"
        zero, baseline = ("kv-shift.zero.cut", "vanilla.cut") if cut else ("kv-shift", "vanilla")
        rows[f"{words}: zero / vanilla"] = f"{zero} / {baseline}"
        for start in ("carried", "learnt"):
            rows[f"{words}: {start} / vanilla"] = f"kv-shift.{start}.{packing} / {baseline}"
        for start in ("carried", "learnt"):
            rows[f"{words}: {start} / zero"] = f"kv-shift.{start}.{packing} / {zero}"
    return rows
