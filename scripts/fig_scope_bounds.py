"""Attention by distance under its bound: an adversary on a random head, text on a trained one (razor.adversary.*).

Left, a random LayerNorm head (d = 32, d_head = 8, uneven gains, D = 12): the bound, what an adversary's contexts reach,
and the largest weights in random contexts. Right, a head of the trained ALiBi models: the largest weights on held-out
windows, shipped. Marked: the scopes at eps = 0.1 %, sharp, as printed, and from spectral norms.
"""

from typing import TYPE_CHECKING, NamedTuple

from scripts.cli import run
from scripts.figure_command import figure_parser, prefix_of, write_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

QUICK_SIZE, FULL_SIZE = 6, 18
EPS, SLOPE, RANGE, SEED = 1e-3, 2.0**-4, 12.0, 4
TOKENS = 256


class Data(NamedTuple):
    """Distances and weights; scopes (2, 3): of either head the sharp, the printed and the spectral one."""

    distance: "NDArray"
    bound: "NDArray"  # (2, distances): of either head, with D and D_s
    attacked: "NDArray"  # distances that the adversary was given
    adversary: "NDArray"  # the largest weight it found at each
    random: "NDArray"  # (256,): largest weight in random contexts at distance 0, 1, ..
    measured: "NDArray"  # (distances,): largest weight on text at distance 0, 1, ..
    scopes: "NDArray"
    trained: "NDArray"  # seed, layer, head, slope, D, D_s of the trained head


def compute(size: int = FULL_SIZE, measured: str | None = None) -> Data:
    """The adversary at `size` distances; `measured`, a file of attention by distance, by default the shipped one."""
    import numpy as np

    from dynamics import comparison_scope as text
    from theory import alibi

    scopes = text.read_scopes(measured or text.SHIPPED)
    head = max(scopes.heads, key=lambda one: one.reach / one.sharp)
    arguments = _random_head()
    wide, gap = (float(f(**arguments)) for f in (alibi.logit_range, alibi.self_gap))
    weights = arguments["w_q"], arguments["w_k"], arguments["gamma"], None
    own = [
        alibi.scope(SLOPE, wide, EPS),
        *(f(*weights, SLOPE, EPS) for f in (alibi.printed_scope, alibi.spectral_scope)),
    ]
    distance = np.unique(np.geomspace(1, 4000, 200).astype(int))
    bounds = [
        [alibi.weight_bound(int(n), *of) for n in distance]
        for of in ((SLOPE, wide, gap), (head.slope, head.logit_range, min(head.self_gap, head.logit_range)))
    ]
    spread = np.concatenate([np.geomspace(1, own[0], size), np.linspace(0.4 * own[0], 1.5 * own[0], size // 2)])
    attacked = np.unique(spread.astype(int))
    adversary, random = _attack(arguments, attacked.tolist(), 20 * size)
    return Data(
        distance, np.array(bounds), attacked, adversary, random, np.array(head.largest),
        np.array([own, [head.sharp, head.printed, head.spectral]]),
        np.array([head.seed, head.layer, head.head, head.slope, head.logit_range, head.self_gap]),
    )  # fmt: skip


def _random_head() -> dict:
    import numpy as np

    from theory import alibi

    rng = np.random.default_rng(SEED)
    w_q, w_k = rng.standard_normal((2, 8, 32))
    head = {"w_q": w_q, "w_k": w_k, "gamma": np.exp(rng.standard_normal(32)), "norm": "layer"}
    return {**head, "w_q": w_q * (RANGE / alibi.logit_range(**head))}


def _attack(arguments: dict, distances: list[int], contexts: int) -> "tuple[NDArray, NDArray]":
    """The largest weight found at each distance, and in so many random contexts at distance 0, 1, .."""
    import numpy as np
    import torch

    from dynamics.adversary import heaviest_weights
    from dynamics.adversary_context import Heads, heads, random_contexts

    def copies(count: int) -> Heads:
        many = {name: [value] * count for name, value in arguments.items() if name != "norm"}
        return heads(**many, norm=arguments["norm"], slope=SLOPE)

    found = heaviest_weights(copies(len(distances)), distances)
    reached = [one.weight(n) for one, n in zip(found, distances, strict=True)]
    drawn = torch.stack([one.weights.flip(0) for one in random_contexts(copies(contexts), TOKENS)])
    return np.array(reached), drawn.amax(0).numpy()


def draw(data: Data) -> "Figure":
    """Two panels of weight against distance."""
    from scripts.scope_bounds_panels import draw_panels

    return draw_panels(data)


def main(argv: list[str] | None = None) -> int:
    """Run the command line; return its exit code."""
    line = figure_parser("fig_scope_bounds", __doc__, (QUICK_SIZE, FULL_SIZE), "distances attacked")
    line.add_argument("--measured", metavar="FILE", help="attention by distance (default the shipped one)")
    options = line.parse_args(argv)
    prefix = prefix_of(options)
    data = compute(options.size, options.measured)
    return write_figure(draw(data), data, prefix, options)


if __name__ == "__main__":
    raise SystemExit(run(main))
