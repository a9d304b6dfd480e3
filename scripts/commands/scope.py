"""Read a checkpoint head by head: how far each head can see, bounded from its weights, and what a KV cache may forget.

MODEL is a folder of safetensors (BLOOM, MPT, Falcon, Baichuan, Llama, Mistral, Mixtral, Qwen, Gemma, Granite, Cohere,
OLMo, OPT, Phi-3, SmolLM3, StableLM, GPT-2, GPT-NeoX, gpt-oss, or a model trained here; docs/families.md) or a hub id,
with the head of any task. All numbers but RazorAttention's printed scope are bounds for every context of normalised
states, so they lie far above what real text reaches. They hold in exact arithmetic: a model that runs in bfloat16 can
exceed them, and --arithmetic adds bounds that include the rounding. They are computed in floats, whose own rounding is
estimated; --certified proves it where a range is attained. The columns alpha and beta of a model with KV shifting mean
nothing without the head's own gains. --matrices takes ALiBi heads as matrices instead.
"""

import argparse
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ..figures.figure_files import add_outputs, outputs, write_outputs
from .cli import Parser, bar, command_parser, finite, layers_and_heads, whole

if TYPE_CHECKING:
    from dynamics.scope.heads import HeadScope, Settings
    from dynamics.weights.reader import Checkpoint

    from .scope_report import Rounded

OF_MODEL = ("mass", "window", "context", "heads", "arithmetic", "figure", "format", "sha256", "certified")


def parser() -> Parser:
    p = command_parser("scope", __doc__)
    source = p.add_mutually_exclusive_group(required=True)
    source.add_argument("model", nargs="?", metavar="MODEL", help="a folder, or owner/name on the hub")
    arrays = "ALiBi heads as matrices: w_q, w_k, gamma, and if any norm_bias, query_bias, norm, slope (docs/guide.md)"
    source.add_argument("--matrices", metavar="FILE.npz", help=arrays)
    p.add_argument("--slope", type=finite, metavar="X", help="slope of the heads of --matrices, if the file has none")
    p.add_argument("--eps", type=finite, required=True, metavar="X", help="weight of one token that counts as unseen")
    p.add_argument("--mass", type=finite, metavar="X", help="weight a local head may lose in all (default: eps)")
    p.add_argument("--window", type=whole(1), metavar="N", help="most tokens a local head may keep (default: context)")
    p.add_argument("--context", type=whole(1), metavar="N", help="tokens of the cache (default: the model's longest)")
    chosen = "only layers L, or heads H of them: 3,7.0,7.2"
    p.add_argument("--heads", type=layers_and_heads, metavar="L[.H],..", help=chosen)
    run_in = "also bound the scopes of a model that runs in this format, with all its rounding"
    p.add_argument("--arithmetic", choices=("bfloat16", "float16", "float32"), help=run_in)
    add_outputs(p, "the map of scopes")
    p.add_argument("--sha256", type=_hash, action="append", metavar="FILE=HEX", help="refuse MODEL if a file differs")
    sure = "ball arithmetic where ranges are attained (slow); without it their rounding is estimated, not proved"
    p.add_argument("--certified", action="store_true", help=sure)
    return p


def _hash(text: str) -> tuple[str, str]:
    """An argparse type: the name of a file and its hash."""
    name, _, digest = text.partition("=")
    if not name or len(digest) != 64 or not set(digest.lower()) <= set("0123456789abcdef"):
        raise argparse.ArgumentTypeError(f"expected FILE=HEX with 64 hexadecimal digits, got {text!r}")
    return name, digest


def main(argv: list[str] | None = None) -> int:
    p = parser()
    args = p.parse_args(argv)
    for name in ("slope",) if args.matrices is None else OF_MODEL:
        if getattr(args, name) != p.get_default(name):
            p.error(f"argument --{name}: not allowed with {'MODEL' if args.matrices is None else '--matrices'}")
    places = outputs(args, "scope_map")
    if args.matrices is not None:
        from .scope_matrices import report

        print(report(args.matrices, args.slope, args.eps, places[0]))
        return 0
    from dynamics.scope.heads import settings
    from dynamics.weights.reader import open_checkpoint

    checkpoint = open_checkpoint(args.model, dict(args.sha256 or ()))
    mass = args.eps if args.mass is None else args.mass
    asked = settings(checkpoint, args.eps, mass, args.window, args.context, args.certified)
    layers = measured(checkpoint, asked, args)
    from . import scope_report

    rounded = None if args.arithmetic is None else _as_run(checkpoint, layers, asked, args.arithmetic)
    told = checkpoint, layers, asked, bool(args.heads), rounded
    document = partial(scope_report.document, args.model, *told)
    drawn = layers, asked, Path(args.model).name
    written = write_outputs(places, args.format, document, ".heads.scope_map", *drawn)
    print(scope_report.text(*told), *written, sep="\n")
    return 0


def _as_run(
    checkpoint: "Checkpoint", layers: list[list["HeadScope"]], asked: "Settings", arithmetic: str
) -> "Rounded":
    """Scopes with rounding, by layer and head."""
    from dynamics.scope.rounded import rounded_logits, rounded_scopes

    from .scope_report import Rounded

    scopes, ranges = {}, {}
    for heads in filter(None, layers):
        layer, places = heads[0].layer, [(head.layer, head.head) for head in heads]
        logits = rounded_logits(checkpoint, layer, heads, asked, arithmetic)
        found = rounded_scopes(checkpoint, layer, heads, asked, arithmetic, logits)
        scopes |= dict(zip(places, found, strict=True))
        ranges |= dict(zip(places, (one.spread for one in logits), strict=True))
    return Rounded(arithmetic, scopes, ranges)


def measured(checkpoint: "Checkpoint", asked: "Settings", args: argparse.Namespace) -> list[list["HeadScope"]]:
    """All layers, or the chosen ones with the chosen heads, with a bar on a terminal. Raises ValueError for others."""
    from dynamics.scope.heads import layer_scopes

    chosen = args.heads or {layer: set() for layer in range(checkpoint.architecture.n_layers)}
    for layer, some in chosen.items():
        number = checkpoint.layer_architecture(layer).n_heads
        if some and max(some) >= number:
            raise ValueError(f"heads of layer {layer} must be in 0..{number - 1}, got {max(some)}")
    layers = bar(args, sorted(chosen), unit="layer", leave=False)
    found = [layer_scopes(checkpoint, layer, asked) for layer in layers]
    return [[head for head in of if not chosen[head.layer] or head.head in chosen[head.layer]] for of in found]
