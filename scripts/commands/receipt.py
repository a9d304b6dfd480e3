"""Say what a cache's forgetting can have changed, step by step and layer by layer, and what it must keep for a promise.

MODEL is a folder of safetensors that `scope` and the Razor cache both know, or a hub id. A receipt bounds the change of
the attention output of a layer, given that layer's inputs. One bound uses the range of the logits, the slopes and the
mass that was kept; a sharper one also uses the extents of the evicted keys and values. The sum of the bounds is a total
of local errors: no bound on logits follows. With --error the command says what must be kept so that no head ever loses
more than that share of the diameter of its values, or that nothing may be forgotten, and what other policies keep and
lose on the same text. The loss with the whole cache and with each policy is measured beside the bounds.
"""

import argparse
import math
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from . import texts
from .cli import Parser, bar, command_parser, finite, output_file, whole

if TYPE_CHECKING:
    from torch import Tensor, nn

    from dynamics.comparison.local_errors import Local
    from dynamics.razor.plan import RazorPlan
    from dynamics.razor.receipt import Receipt
    from dynamics.sinks.texts import Text
    from dynamics.weights.reader import Checkpoint

CONTEXT, SINKS, FEWEST = 256, 4, 20


def parser() -> Parser:
    p = command_parser("receipt", __doc__)
    p.add_argument("model", metavar="MODEL", nargs="?", help="a folder, or owner/name on the hub")
    texts.add_text(p, required=False)
    p.add_argument("--context", type=whole(8), default=CONTEXT, metavar="N", help=f"tokens read (default {CONTEXT})")
    p.add_argument("--windows", type=whole(1), default=1, metavar="N", help="that many pieces of the text (default 1)")
    p.add_argument("--plan", metavar="FILE", help="the cache's plan as JSON (default: 4 sinks, a window of N/4)")
    promise = "a promise: the largest error, as a share of the diameter of a head's values, in (0, 1)"
    p.add_argument("--error", type=finite, metavar="X", help=promise)
    p.add_argument("--write-plan", metavar="FILE", help="write the plan that keeps the promise up to N tokens, as JSON")
    p.add_argument("--dtype", choices=("float32", "float64", "bfloat16", "float16"), default="float32",
                   help="run in this")  # fmt: skip
    p.add_argument("--json", metavar="FILE", help="write all numbers there; null: there is no such number")
    attacked = "instead: hold N steps of random, worst-placed and climbing contexts of random layers to their bounds"
    p.add_argument("--attack", type=whole(1), metavar="N", help=attacked)
    p.add_argument("--seed", type=whole(0), default=0, metavar="N", help="of the attack (default 0)")
    return p


def main(argv: list[str] | None = None) -> int:
    args = parser().parse_args(argv)
    _consistent(args)
    targets = {name: output_file(given) for name in ("json", "write_plan") if (given := getattr(args, name))}
    from . import receipt_report

    if args.attack:
        tally = _attacked(args)
        text, document, failed = *receipt_report.attacked(tally, args.seed), tally.violations > 0
        plan = None
    else:
        checkpoint, model, told, tokens, given = _opened(args)
        found, losses = receipts(checkpoint, model, tokens, given, args.dtype)
        rows = []
        if args.error is not None:
            heads = _found(model, args.model)
            rows = promise(checkpoint, model, tokens, args.error, args.dtype, heads)
        text, document = receipt_report.measured(given, found, losses, args.error, rows)
        text = "\n".join([*texts.told(told), text])
        failed, plan = found.violations > 0, None
        if args.write_plan:
            from dynamics.scope.promise import promised_plan

            plan = promised_plan(checkpoint, args.error, args.context)
    _write(targets, document, plan)
    idle = plan is not None and not plan.drops(args.context)
    said = {"write_plan": f": it drops nothing in {args.context} tokens"} if idle else {}
    print(text, *(f"wrote {path}{said.get(name, '')}" for name, path in targets.items()), sep="\n")
    return 1 if failed else 0


def _consistent(args: argparse.Namespace) -> None:
    if args.attack:
        usual = parser().parse_args(["--attack", str(args.attack)])
        given = [name for name in vars(args) if name not in ("attack", "seed", "json", "quiet")
                 and getattr(args, name) != getattr(usual, name)]  # fmt: skip
        if given:
            raise ValueError(f"--attack takes --seed and --json alone, got {given[0].replace('_', '-')}")
    if args.json and args.json == args.write_plan:
        raise ValueError(f"--json and --write-plan name one file: {args.json}")
    if not args.attack and not (args.model and (args.text or args.tokens or args.records)):
        raise ValueError("give MODEL and one of --text, --tokens and --records, or --attack N")
    if args.error is not None and not 0 < args.error < 1:
        raise ValueError(f"--error must lie strictly between 0 and 1, got {args.error:g}")
    if args.write_plan and args.error is None:
        raise ValueError("--write-plan needs --error")


def _attacked(args: argparse.Namespace):
    from dynamics.razor.receipt_attack import attack

    with bar(args, total=args.attack, unit="step", leave=False) as shown:
        return attack(args.attack, args.seed, lambda done: shown.update(done - shown.n))


def _write(targets: dict[str, Path], document: str, plan: "RazorPlan | None") -> None:
    from dynamics.files.atomic import atomic_write_text

    if "json" in targets:
        atomic_write_text(targets["json"], document)
    if plan is not None:
        from dynamics.razor.plan_file import write_plan

        write_plan(targets["write_plan"], plan)


def _opened(args: argparse.Namespace) -> "tuple[Checkpoint, nn.Module, Text, Tensor, RazorPlan]":
    import torch

    from dynamics.razor.plan_file import read_plan
    from dynamics.sinks.opened import open_model
    from dynamics.sinks.windows import cut
    from dynamics.weights.folder import locate
    from dynamics.weights.reader import open_checkpoint

    given = read_plan(args.plan) if args.plan else None
    texts.check_files(args)
    folder = locate(args.model)
    checkpoint = open_checkpoint(folder)
    model = open_model(folder, torch.device("cpu"), args.dtype)
    text = texts.given_text(args, model, folder)
    windows = cut(model, text, args.context)
    if len(windows) < args.windows:
        raise ValueError(f"{args.windows} windows of {args.context} tokens are asked for, the text has {len(windows)}")
    rows = torch.from_numpy(windows[: args.windows])
    sizes = checkpoint.architecture
    if given is None:
        given = default_plan(sizes.n_layers, sizes.n_heads, sizes.n_kv_heads, args.context)
    shape = len(given.full), given.n_heads, given.n_kv_heads
    if shape != (sizes.n_layers, sizes.n_heads, sizes.n_kv_heads):
        what = f"the plan is for {shape[0]} layers of {shape[1]} heads and {shape[2]} key-value heads"
        raise ValueError(f"{what}, the model has {sizes.n_layers} of {sizes.n_heads} and {sizes.n_kv_heads}")
    return checkpoint, model, text, rows, given


def default_plan(n_layers: int, n_heads: int, n_kv_heads: int, context: int) -> "RazorPlan":
    """Four sinks and a quarter of the context in every head, and nothing in place of the rest."""
    from fractions import Fraction

    from dynamics.razor.plan import RazorPlan

    return RazorPlan(n_heads, n_kv_heads, (frozenset(),) * n_layers, sinks=SINKS, buffer=max(1, context // 4),
                     share=Fraction(0), compensation="none")  # fmt: skip


def receipts(
    checkpoint: "Checkpoint", model: "nn.Module", tokens: "Tensor", plan: "RazorPlan", dtype: str
) -> "tuple[Receipt, tuple[float, float]]":
    """Read the tokens (batch, n) with the Razor cache: what it may have lost; the losses of the full cache and of it.

    Losses are in nats a predicted token, NaN for a model without a head.
    """
    from dynamics.model.attention_function import full_attention
    from dynamics.razor.cache import RazorCache
    from dynamics.razor.receipt import Receipts
    from dynamics.scope.receipt import weighed

    noted, read = Receipts(RazorCache(plan), weighed(checkpoint, dtype), measure=True), _reader(model, tokens)
    losses = read(full_attention), read(noted)
    return noted.receipt(), losses


def promise(
    checkpoint: "Checkpoint", model: "nn.Module", tokens: "Tensor", error: float, dtype: str,
    heads: list[tuple[int, int]],
) -> "list[tuple[str, Local]]":
    """Ours with the promise; the others at the memory of our best, and at the least memory that measures no more.

    heads: the query heads (layer, head) that RazorAttention keeps whole.
    """
    from dynamics.razor.promise import PromiseCache
    from dynamics.scope.promise import promised_plan
    from dynamics.scope.receipt import weighed

    plan = promised_plan(checkpoint, error, tokens.shape[1])
    wide, read = [2 * layer.values.radius for layer in weighed(checkpoint)], _reader(model, tokens)
    cache = PromiseCache(weighed(checkpoint, dtype), plan.n_kv_heads, error)
    ours = _kept_promises(checkpoint, plan, cache, read, wide, tokens.shape[1])
    sloped = checkpoint.architecture.slopes is not None
    others = _Others(plan, tokens.shape[1], heads, sloped)
    return [("promised", one) for one in ours] + others.rows(min(ours, key=lambda one: one.kept), error, read, wide)


def _kept_promises(checkpoint, plan, cache, read, wide, context) -> "list[Local]":
    from dynamics.comparison.local_errors import head_windows, measured
    from dynamics.razor.cache import RazorCache
    from dynamics.scope.promise import windows

    needed = windows(checkpoint, cache.error, context)
    entries = sum(map(len, needed)) * context
    tokens = measured("tokens", 1.0, cache, read, wide)
    held = [len(heads) * context + (plan.n_kv_heads - len(heads)) * plan.n_kept(context) for heads in plan.full]
    return [
        tokens._replace(kept=cache.kept_share()),
        measured("a window a head", sum(map(sum, needed)) / entries, head_windows(needed), read, wide),
        measured("one window, heads whole", sum(held) / entries, RazorCache(plan), read, wide),
    ]


class _Others(NamedTuple):
    """What the other policies need: a plan of the model, the context, heads kept whole, whether ALiBi is used."""

    plan: "RazorPlan"
    context: int
    heads: list[tuple[int, int]]
    sloped: bool

    def rows(self, best: "Local", error: float, read, wide) -> "list[tuple[str, Local]]":
        """All at the memory of the best, unless that is all of it; the least memory whose measured error is enough."""
        from fractions import Fraction

        from dynamics.comparison.local_errors import SHARES, Local, least_share

        whole = best.kept == 1
        equal = [] if whole else self._measured(Fraction(int(best.kept * self.context), self.context), read, wide)
        curve = equal + [one for share in SHARES for one in self._measured(share, read, wide)]
        found = [("equal memory", one) for one in equal]
        limits = {"measured within the promise": error} | ({} if whole else {"measured as our best": best.worst})
        for told, limit in limits.items():
            for name in dict.fromkeys(one.policy for one in curve):
                found.append((told, least_share(curve, name, limit) or Local(name, 1.0, *[math.nan] * 4)))
        return found

    def _measured(self, share, read, wide) -> "list[Local]":
        from dynamics.comparison.local_errors import measured, policies

        chosen = policies(self.plan, self.context, share, self.heads, self.sloped)
        return [measured(name, float(share), function, read, wide) for name, function in chosen.items()]


def _found(model: "nn.Module", name: str) -> list[tuple[int, int]]:
    """The heads that the command `heads` would keep whole; none where the ids are too few for its prompts."""
    from dynamics.heads.found import find
    from dynamics.heads.rows import vocabulary
    from dynamics.sinks.texts import facts
    from dynamics.weights.folder import locate

    known = facts(model, locate(name))
    if vocabulary(model) - len(known.special) < FEWEST:
        return []
    return find(model, first=known.first, excluded=known.special, seeds=3).whole_heads


def _reader(model: "nn.Module", tokens: "Tensor"):
    import torch

    from dynamics.model.decoder import InductionModel
    from dynamics.sinks.passes import through

    def read(function) -> float:
        """The loss in nats a token."""
        more = {} if isinstance(model, InductionModel) else {"use_cache": False}
        with through(model, function), torch.no_grad():
            found = model(tokens, **more)
        logits = found if isinstance(found, torch.Tensor) else getattr(found, "logits", None)
        if logits is None:
            return math.nan
        return float(torch.nn.functional.cross_entropy(logits[:, :-1].flatten(0, 1).float(), tokens[:, 1:].flatten()))

    return read
