"""Attention by distance: a head that breaks the printed scope, two that happen not to (razor.thm1, razor.adversary.*).

(a) A head built against the printed scope, which is no bound: an adversary's context gives one token beyond it most of
the attention. (b) A random LayerNorm head of the same uneven gains, slope 1/16 and range D = 12 (d = 32, d_head
= 8): the same bound, what an adversary's contexts reach, and the largest weights in random contexts. (c) A head of the
trained ALiBi models: the largest weights on held-out windows, shipped. Upright lines: the scopes at eps = 0.1 %, sharp,
as printed, and from spectral norms. In (b) and (c) the printed one happens to lie beyond the sharp one.
"""

import math
from typing import TYPE_CHECKING, NamedTuple

from ..figure_command import figure_parser, write_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from dynamics.scope.adversary_context import Heads

QUICK_SIZE, FULL_SIZE = 6, 18
EPS, SLOPE, RANGE, SEED = 1e-3, 2.0**-4, 12.0, 4
TOKENS = 256


class Data(NamedTuple):
    """Distances and weights; scopes (3, 3): of each head the sharp, the printed and the spectral one."""

    distance: "NDArray"
    bound: "NDArray"  # (3, distances): of each head, with D and D_s
    attacked: "NDArray"  # distances that the adversary was given
    adversary: "NDArray"  # (2, attacked): the largest weight it found at each, of the built and of the random head
    random: "NDArray"  # (256,): largest weight in random contexts at distance 0, 1, ..
    measured: "NDArray"  # (distances,): largest weight on text at distance 0, 1, ..
    scopes: "NDArray"
    trained: "NDArray"  # seed, layer, head, slope, D, D_s of the trained head


def compute(size: int = FULL_SIZE, measured: str | None = None) -> Data:
    """The adversary at `size` distances; `measured`, a file of attention by distance, by default the shipped one."""
    import numpy as np

    from dynamics.comparison import by_distance as text
    from theory import alibi

    scopes = text.read_scopes(measured)
    head = max(scopes.heads, key=lambda one: one.reach / one.sharp)
    ours = _built_head(), _random_head()
    found = [alibi.head_scope(alibi.Head(**one), SLOPE, EPS) for one in ours]
    own = [one[2:] for one in found]  # the sharp, the printed and the spectral scope
    distance = np.unique(np.geomspace(1, 4000, 200).astype(int))
    ranges = [(SLOPE, one.logit_range, one.self_gap) for one in found]
    ranges.append((head.slope, head.logit_range, min(head.self_gap, head.logit_range)))
    bounds = [[alibi.weight_bound(int(n), *of) for n in distance] for of in ranges]
    sharp = own[0][0]
    spread = np.concatenate([np.geomspace(1, sharp, size), np.linspace(0.4 * sharp, 1.5 * sharp, size // 2)])
    attacked = np.unique([*spread.astype(int), math.ceil(own[0][1])])
    reached = [_attacked(one, attacked.tolist()) for one in ours]
    return Data(
        distance, np.array(bounds), attacked, np.array(reached), _random(ours[1], 20 * size), np.array(head.largest),
        np.array([*own, [head.sharp, head.printed, head.spectral]]),
        np.array([head.seed, head.layer, head.head, head.slope, head.logit_range, head.self_gap]),
    )  # fmt: skip


def _built_head() -> dict:
    """The head of one dimension that `violation` builds for the random head's gains, at the random head's range."""
    from theory import alibi
    from theory.alibi.printed import printed_condition, violation

    gamma = _random_head()["gamma"]
    found = violation(printed_condition(gamma, norm="layer"), SLOPE, EPS)
    head = {"w_q": found.w_q, "w_k": found.w_k, "gamma": gamma, "norm": "layer"}
    return {**head, "w_q": found.w_q * (RANGE / alibi.logit_range(**head))}


def _random_head() -> dict:
    import numpy as np

    from theory import alibi

    rng = np.random.default_rng(SEED)
    w_q, w_k = rng.standard_normal((2, 8, 32))
    head = {"w_q": w_q, "w_k": w_k, "gamma": np.exp(rng.standard_normal(32)), "norm": "layer"}
    return {**head, "w_q": w_q * (RANGE / alibi.logit_range(**head))}


def _attacked(head: dict, distances: list[int]) -> list[float]:
    """The largest weight found at each distance."""
    from dynamics.scope.adversary import heaviest_weights

    found = heaviest_weights(_copies(head, len(distances)), distances)
    return [one.weight(n) for one, n in zip(found, distances, strict=True)]


def _random(head: dict, contexts: int) -> "NDArray":
    """The largest weight in so many random contexts at distance 0, 1, .."""
    import torch

    from dynamics.scope.adversary_context import random_contexts

    drawn = [one.weights.flip(0) for one in random_contexts(_copies(head, contexts), TOKENS)]
    return torch.stack(drawn).amax(0).numpy()


def _copies(head: dict, count: int) -> "Heads":
    from dynamics.scope.adversary_context import heads

    many = {name: [value] * count for name, value in head.items() if name != "norm"}
    return heads(**many, norm=head["norm"], slope=SLOPE)


def draw(data: Data) -> "Figure":
    """Three panels of weight against distance."""
    from .scope_bounds_panels import draw_panels

    return draw_panels(data)


def main(argv: list[str] | None = None) -> int:
    """Run the command line; return its exit code."""
    line = figure_parser("fig_scope_bounds", __doc__, (QUICK_SIZE, FULL_SIZE), "distances attacked")
    line.add_argument("--measured", metavar="FILE", help="attention by distance (default the shipped one)")
    options = line.parse_args(argv)
    return write_figure(options, lambda size: compute(size, options.measured), draw)
