"""A masked token is a first one without positions, with ALiBi, with RoPE, not with learned ones (waiver.eq11.layers).

(a) How far its state behind each layer is from that of the same token at the first place, in models of random weights:
equal to rounding where positions enter through the logits of queries and keys alone and every layer is masked. (b) By
how much its logit leads that of a first token with the same key, for a query at place 64: the lines are formulas, the
marks what two models' own weights give.
"""

from typing import NamedTuple

import numpy as np
import torch
from matplotlib.figure import Figure
from numpy.typing import NDArray

from dynamics.model.config import ModelConfig
from dynamics.model.decoder import InductionModel
from dynamics.model.positions import rotate
from dynamics.sinks.first_token import copy_leads, state_gaps
from theory import alibi, sink

from ..palette import AMBER, BLACK, BLUE, GREEN, PINK, SKY, VERMILION, styled

QUICK_SIZE, FULL_SIZE = 4, 12
UNIT = "layers"
ROUNDING = 1e-13  # a smaller gap is drawn here: its size is the processor's, not the model's
PLACE, QUERY, HEADS, STEP = 24, 64, 2, 6
# Scheme, its name, colour and marker; the three that agree are drawn one inside another.
SCHEMES = (
    ("none", "no positions", BLACK, "o", 5.2), ("alibi", "ALiBi", BLUE, "s", 3.6),
    ("rope", "RoPE", GREEN, "^", 2.0), ("learned", "learned positions", VERMILION, "D", 2.6),
    ("values", "RoPE on values too", AMBER, "v", 2.6), ("shifted", "values shifted", SKY, "X", 2.8),
    ("lowest", "only layer 1 masked", PINK, "P", 2.8),
)  # fmt: skip


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
    gaps = np.array([_gaps(scheme[0], size) for scheme in SCHEMES])
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
    """Two panels side by side, a key below each."""
    figure = Figure(figsize=(5.5, 3.1))
    panels = figure.subplots(1, 2)
    figure.subplots_adjust(left=0.095, right=0.985, top=0.93, bottom=0.4, wspace=0.24)
    layers = np.arange(1, data.gaps.shape[1] + 1)
    for gaps, (_, name, color, marker, size) in zip(data.gaps, SCHEMES, strict=True):
        panels[0].plot(layers, np.maximum(gaps, ROUNDING), color=color, label=name, marker=marker, markersize=size)
    panels[0].set(yscale="log", ylim=(1e-15, 1e3), xlabel="layer", ylabel="largest difference")
    panels[0].text(layers.mean(), 4e-13, "rounding: $10^{-13}$ or less", ha="center")
    panels[0].set_title("(a) state, from a first token's")
    _leads(panels[1], data)
    for panel, left in ((panels[0], 0.29), (panels[1], 0.77)):
        figure.legend(*panel.get_legend_handles_labels(), loc="upper center", bbox_to_anchor=(left, 0.29))
    return figure


def _leads(panel, data: Data) -> None:
    black, blue, green = (scheme[2] for scheme in SCHEMES[:3])
    panel.fill_between(data.places, -data.rope_bound, data.rope_bound, color=green, alpha=0.18, linewidth=0,
                       label="RoPE: bound at any distance")  # fmt: skip
    panel.plot(data.places, 0 * data.places, color=black, label="no positions: none")
    panel.plot(data.places, data.alibi, color=blue, label="ALiBi: slope times place")
    panel.plot(data.places, data.rope, color=green, label="RoPE: of either sign")
    for read, color, marker in zip(data.read, (blue, green), "s^", strict=True):
        panel.plot(data.marks, read, color=color, linestyle="", marker=marker, markersize=2.8, markerfacecolor="white",
                   markeredgewidth=0.7)  # fmt: skip
    panel.set(xlabel="place of the waiver", ylabel="lead of its logit", xlim=(0, QUERY))
    panel.set_title("(b) logit, over a first token's")
