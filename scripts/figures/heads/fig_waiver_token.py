"""A masked token is a first one without positions, with ALiBi, with RoPE, not with learned ones (waiver.eq11.layers).

(a) How far its state behind each layer is from that of the same token at the first place, in models of random weights:
equal to rounding where positions enter through the logits of queries and keys alone and every layer is masked. (b) By
how much its logit leads that of a first token with the same key, for a query at place 64: the lines are formulas, the
marks what two models' own weights give.
"""

from typing import NamedTuple

import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from dynamics.model.config import ModelConfig
from dynamics.model.decoder import InductionModel
from dynamics.model.positions import rotate
from dynamics.sinks.first_token import copy_leads, state_gaps
from theory import alibi, sink

from ..palette import BLACK, BLUE, CHAINED, DASHED, FAINT, GREEN, styled

QUICK_SIZE, FULL_SIZE = 4, 12
UNIT = "layers"
ROUNDING = 1e-13  # a smaller gap is drawn as none: its size is the processor's, not the model's
PLACE, QUERY, HEADS, STEP = 24, 64, 2, 6
# The first three, without a change, agree with a first token.
SCHEMES = {
    "none": "no positions", "alibi": "ALiBi", "rope": "RoPE", "learned": "learned positions",
    "values": "RoPE on values too", "shifted": "values shifted", "lowest": "only layer 1 masked",
}  # fmt: skip


class Data(NamedTuple):
    """Gaps of states by scheme and layer; leads of logits by place of the waiver."""

    gaps: NDArray  # (scheme, layer)
    places: NDArray
    alibi: NDArray  # (place,), of the head of slope 1/16
    rope: NDArray
    rope_bound: NDArray
    marks: NDArray
    read: NDArray  # (scheme, mark): alibi, rope


def compute(size: int = FULL_SIZE) -> Data:
    """Models of `size` layers, and the formulas of `theory.sink` for the lowest one."""
    places, tokens = np.arange(1, QUERY + 1), _tokens()
    marks = places[2:-1:STEP]
    read = [[copy_leads(_model(scheme, 1), tokens, int(at))[0] for at in marks] for scheme in ("alibi", "rope")]
    query, key, frequencies = _head()
    gap = sink.rotary_copy_gap(query[None], key[None], np.array(QUERY), places, frequencies)
    bound = sink.rotary_copy_gap_bound(query[None], key[None], places, frequencies)
    gaps = np.array([_gaps(scheme, size) for scheme in SCHEMES])
    return Data(gaps, places, alibi.slopes(HEADS)[0] * places, gap, bound, marks, np.array(read))


def _model(scheme: str, layers: int):
    position = {"shifted": "none", "lowest": "none", "values": "rope"}.get(scheme, scheme)
    sizes = {"vocab": 64, "width": 32, "n_heads": HEADS, "mlp_width": 64, "n_layers": layers, "position": position}
    sizes |= {"shift": "v" if scheme == "shifted" else "none", "max_length": 128 if position == "learned" else None}
    model = InductionModel(ModelConfig.checked(sizes), torch.Generator().manual_seed(0)).double().eval()
    for block in model.blocks:
        block.attention.q_proj.weight.data *= 3  # attention far from even
    return model


def _tokens():
    return torch.randint(64, (QUERY + 1,), generator=torch.Generator().manual_seed(1))


def _gaps(scheme: str, layers: int) -> NDArray:
    masked = (0,) if scheme == "lowest" else None
    return state_gaps(_model(scheme, layers), _tokens(), PLACE, masked, _turned if scheme == "values" else None)


def _turned(function):
    """Attention that rotates its values too."""
    def turned(layer, query, key, value, **more):
        value = rotate(value.transpose(1, 2), torch.arange(value.shape[2])[None], 10000.0).transpose(1, 2)
        return function(layer, query, key, value, **more)

    return turned


def _head() -> tuple[NDArray, NDArray, NDArray]:
    """The last token's query, scaled, the first one's key, not rotated, in neighbouring pairs; the frequencies."""
    model, tokens = _model("rope", 1), _tokens()
    layer, normed = model.blocks[0].attention, model.blocks[0].attention_norm(model.embed(tokens[None]))[0]
    half = layer.head_dim // 2
    with torch.no_grad():
        rows = layer.q_proj(normed[-1]) * layer.scale, layer.k_proj(normed[0])
    query, key = (row[: 2 * half].view(2, half).T.flatten().numpy() for row in rows)
    return query, key, 10000.0 ** (-np.arange(half) / half)


@styled
def draw(data: Data) -> Figure:
    """Two panels side by side: a cell a scheme and layer, and lines."""
    figure = Figure(figsize=(7, 2.35), layout="constrained")
    cells, lines = figure.subplots(1, 2)
    _gap_cells(figure, cells, data.gaps)
    _leads(lines, data)
    return figure


def _gap_cells(figure: Figure, panel: Axes, gaps: NDArray) -> None:
    """Rows by scheme, so that no scheme hides another; white where nothing but rounding is left."""
    alike, ends = gaps <= ROUNDING, (0.5, gaps.shape[1] + 0.5, len(gaps), 0)
    image = panel.imshow(np.where(alike, np.nan, gaps), cmap="viridis_r", vmin=0, aspect="auto", extent=ends)
    for row, same in enumerate(map(int, alike.sum(1))):
        text = r"0 to rounding: $10^{-13}$ or less" if same == gaps.shape[1] else "0" * (same > 0)
        panel.text(0.5 + same / 2, row + 0.5, text, ha="center", va="center")
    panel.set_yticks(np.arange(len(gaps)) + 0.5, list(SCHEMES.values()))
    panel.tick_params(axis="y", length=0)
    panel.hlines(np.arange(1, len(gaps)), *panel.get_xlim(), color=FAINT, linewidth=0.5)
    panel.xaxis.set_major_locator(MaxNLocator(integer=True))
    panel.set(xlabel="layer", title="(a) state less a first token's")
    figure.colorbar(image, ax=panel, pad=0.02).set_label("largest difference of a coordinate", labelpad=4)


def _leads(panel: Axes, data: Data) -> None:
    panel.fill_between(data.places, -data.rope_bound, data.rope_bound, color=GREEN, alpha=0.18, linewidth=0,
                       label="RoPE: bound at any distance")  # fmt: skip
    panel.plot(data.places, data.alibi, color=BLUE, label="ALiBi: slope times place")
    panel.plot(data.places, data.rope, color=GREEN, linestyle=CHAINED, label="RoPE: of either sign")
    panel.plot(data.places, 0 * data.places, color=BLACK, linestyle=DASHED, label="no positions: none")
    for read, color, marker in zip(data.read, (BLUE, GREEN), "s^", strict=True):
        panel.plot(data.marks, read, color=color, linestyle="", marker=marker, markerfacecolor="white",
                   markeredgewidth=0.7)  # fmt: skip
    panel.set(xlabel="place of the waiver", ylabel="lead of its logit", xlim=(0, QUERY), ylim=(-3.3, 7.6))
    panel.set_title("(b) logit less a first token's")
    panel.legend(loc="upper left")
