"""Waiver token: states and logits of a token masked as Equation 11 means it, by positional scheme (waiver.eq11).

(a) How far its state behind each layer is from that of the same token at the first place, in models of random weights:
equal to rounding where positions enter through the logits of queries and keys alone and every layer is masked. (b) By
how much its logit leads that of a first token with the same key, for a query at place 64: the curves are formulas, the
marks two models' own weights.
"""

from typing import TYPE_CHECKING, NamedTuple

from .cli import run
from .figure_command import figure_parser, prefix_of, write_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

QUICK_SIZE, FULL_SIZE = 4, 12
PLACE, QUERY, HEAD = 24, 64, 1
SCHEMES = ("none", "alibi", "rope", "learned", "rope on values", "masked in layer 1 only", "KV shift")
NAMES = ("no positions", "ALiBi", "RoPE on queries, keys", "learned positions", "RoPE on values too",
         "mask in layer 1 only", "values shifted")  # fmt: skip
COLORS = ("#000000", "#0072b2", "#009e73", "#d55e00", "#e69f00", "#cc79a7", "#56b4e9")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
FLOOR = 1e-17


class Data(NamedTuple):
    """Gaps of states by scheme and layer; leads of logits by place of the waiver."""

    gaps: "NDArray"  # (scheme, layer)
    places: "NDArray"
    alibi: "NDArray"  # (place,), of the head of slope 1/16
    rope: "NDArray"  # (place,)
    rope_bound: "NDArray"
    read_alibi: "NDArray"  # as the models' own weights have it
    read_rope: "NDArray"


def compute(size: int = FULL_SIZE) -> Data:
    """Models of `size` layers; the formulas of `theory.sink`."""
    import numpy as np

    places = np.arange(1, QUERY + 1)
    gaps = np.array([_gaps(scheme, size) for scheme in SCHEMES])
    return Data(gaps, places, *_leads(places))


def _model(scheme: str, layers: int):
    import torch

    from dynamics.model.config import ModelConfig
    from dynamics.model.decoder import InductionModel

    position = scheme if scheme in ("alibi", "rope", "learned") else "rope" if scheme == "rope on values" else "none"
    sizes = {"vocab": 64, "width": 32, "n_heads": 2, "mlp_width": 64, "n_layers": layers, "position": position}
    sizes |= {"shift": "kv" if scheme == "KV shift" else "none", "max_length": 128 if position == "learned" else None}
    model = InductionModel(ModelConfig.checked(sizes), torch.Generator().manual_seed(0)).double().eval()
    for block in model.blocks:
        block.attention.q_proj.weight.data *= 3
    return model


def _gaps(scheme: str, layers: int) -> "NDArray":
    """By layer, the largest entry of the difference between the masked token's state and a first token's."""
    model, tokens = _model(scheme, layers), _tokens()
    masked = _states(model, tokens, scheme, PLACE)[:, 0, PLACE]
    first = _states(model, tokens[:, PLACE : PLACE + 1], scheme, None)[:, 0, 0]
    return (masked - first).abs().amax(1).numpy()


def _tokens():
    import torch

    return torch.randint(64, (1, QUERY + 1), generator=torch.Generator().manual_seed(1))


def _states(model, tokens, scheme: str, place: int | None, visit=lambda *block: None):
    """The states behind every block, (layers, 1, length, width), with the token at `place` masked."""
    import torch

    from dynamics.model.attention_function import replaced
    from dynamics.model.positions import rotate
    from dynamics.sinks.attention import Seen, reading

    def alone(layer: int, n_heads: int):
        masked = place is not None and (layer == 0 or scheme != "masked in layer 1 only")
        return (place, torch.ones(n_heads, dtype=torch.bool)) if masked else None

    inner, found = reading(visit, Seen(), alone), []

    def function(layer, query, key, value, *, scale, slopes):
        if scheme == "rope on values":
            value = rotate(value.transpose(1, 2), torch.arange(value.shape[2])[None], 10000.0).transpose(1, 2)
        return inner(layer, query, key, value, scale=scale, slopes=slopes)

    hooks = [block.register_forward_hook(lambda *call: found.append(call[2])) for block in model.blocks]
    with replaced(model, function), torch.no_grad():
        model.features(tokens)
    for hook in hooks:
        hook.remove()
    return torch.stack(found)


def _leads(places: "NDArray") -> tuple["NDArray", ...]:
    """The waiver's logit less the first token's: ALiBi and RoPE by formula, the bound, and both as read off models."""
    import numpy as np

    from theory import alibi, sink

    slope = alibi.slopes(2)[HEAD]
    half = 8
    frequencies = 10000.0 ** (-np.arange(half) / half)
    query, key = (row[np.arange(2 * half).reshape(2, half).T.ravel()] for row in _query_and_key())
    gap = sink.rotary_copy_gap(query[None], key[None], np.array(QUERY), places, frequencies)
    bound = sink.rotary_copy_gap_bound(query[None], key[None], places, frequencies)
    return slope * places, gap, bound, _read("alibi", places), _read("rope", places)


def _query_and_key() -> tuple["NDArray", "NDArray"]:
    """Of one head of the lowest layer, not rotated, the query scaled: of the last token, and of the first."""
    import torch

    model, tokens = _model("rope", 1), _tokens()
    layer, normed = model.blocks[0].attention, model.blocks[0].attention_norm(model.embed(tokens))[0]
    with torch.no_grad():
        query, key = layer.q_proj(normed[-1]).view(2, -1)[HEAD], layer.k_proj(normed[0]).view(2, -1)[HEAD]
    return query.numpy() / query.numel() ** 0.5, key.numpy()


def _read(scheme: str, places: "NDArray") -> "NDArray":
    """The logarithm of the ratio of two weights in the lowest layer: of a copy of the first token and of itself."""
    import numpy as np

    model, kept = _model(scheme, 1), {}
    for place in places[:-1]:
        tokens = _tokens()
        tokens[0, place] = tokens[0, 0]
        _states(model, tokens, scheme, int(place), lambda layer, heads, start, weights: kept.update(rows=weights, of=heads))
        last = kept["rows"][HEAD - kept["of"].start, -1]
        kept[int(place)] = float((last[place] / last[0]).log())
    return np.array([kept[int(place)] for place in places[:-1]] + [np.nan])


def draw(data: Data) -> "Figure":
    """Two panels side by side, a key below each."""
    import matplotlib
    import numpy as np
    from matplotlib.figure import Figure

    from .figure_files import STYLE

    with matplotlib.rc_context(fname=STYLE):
        figure = Figure(figsize=(3.4, 2.6))
        panels = figure.subplots(1, 2)
        figure.subplots_adjust(left=0.125, right=0.985, top=0.93, bottom=0.42, wspace=0.36)
        layers = np.arange(1, data.gaps.shape[1] + 1)
        for gaps, name, color, marker in zip(data.gaps, NAMES, COLORS, MARKERS, strict=True):
            panels[0].plot(layers, np.maximum(gaps, FLOOR), color=color, label=name, marker=marker, markersize=2.6)
        panels[0].set(yscale="log", ylim=(FLOOR / 5, 1e2), xlabel="layer", ylabel="largest difference")
        panels[0].set_title("(a) from a first token")
        _leads_panel(panels[1], data)
        for panel, left, columns in ((panels[0], 0.26, 1), (panels[1], 0.77, 1)):
            figure.legend(*panel.get_legend_handles_labels(), loc="upper center", bbox_to_anchor=(left, 0.29),
                          ncol=columns, fontsize=6, frameon=False, handlelength=1.8, labelspacing=0.25)  # fmt: skip
        return figure


def _leads_panel(panel, data: Data) -> None:
    panel.plot(data.places, 0 * data.places, color=COLORS[0], label="no positions: 0")
    panel.plot(data.places, data.alibi, color=COLORS[1], label="ALiBi: slope times place")
    panel.plot(data.places, data.rope, color=COLORS[2], label="RoPE: of either sign")
    panel.fill_between(data.places, -data.rope_bound, data.rope_bound, color=COLORS[2], alpha=0.18, linewidth=0,
                       label="RoPE: bound at any distance")  # fmt: skip
    some = slice(3, None, 6)
    for read, color in ((data.read_alibi, COLORS[1]), (data.read_rope, COLORS[2])):
        panel.plot(data.places[some], read[some], color=color, linestyle="", marker="o", markersize=2.6,
                   markerfacecolor="white", markeredgewidth=0.7)  # fmt: skip
    panel.set(xlabel="place of the waiver", ylabel="lead of its logit", xlim=(0, QUERY))
    panel.set_title("(b) over the first token's")


def main(argv: list[str] | None = None) -> int:
    args = figure_parser("fig_waiver_token", __doc__, (QUICK_SIZE, FULL_SIZE), "layers").parse_args(argv)
    prefix = prefix_of(args)
    data = compute(args.size)
    return write_figure(draw(data), data, prefix, args)


if __name__ == "__main__":
    raise SystemExit(run(main))
