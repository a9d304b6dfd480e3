"""The induction heads of a model trained here: named by what each attends to and by what the model loses without it.

The run may be finished, killed or still going. Attention is that of the last token x_{T+1}: to x_{i+1}, which came
after its first occurrence x_i, to x_i and to itself. A head is taken out by a zero in place of its output; "alone" is
the head that is left when all others that attend to x_{i+1} are taken out. Coefficients mean nothing without the head's
gains: "x alpha1" is the key gain times alpha1, which stands where Theorem 3.4 has alpha1. "theorem" is the theorem's
loss of that head alone, the mean over the task's lengths and positions. "read out" is what the head adds in the model,
behind the MLP and the final norm, to the logit of a token that it attends to, with its standard deviation over tokens;
before them it is "x beta1". Losses are in nats.
"""

from itertools import pairwise
from pathlib import Path

from .cli import Parser, aligned, command_parser, page, wrapped

ROWS = 512  # held-out rows that heads are judged on


def parser() -> Parser:
    p = command_parser("inspect", __doc__)
    p.add_argument("folder", metavar="RUN", help="the folder of a run of `train`, or a model that ships")
    p.add_argument("--device", default="auto", help="auto, cpu or cuda[:N]")
    return p


def main(argv: list[str] | None = None) -> int:
    args = parser().parse_args(argv)
    return print_heads(args.folder, args.device)


def print_heads(folder: str | Path, device: str, short: bool = False) -> int:
    """Print what was found, then a line a head; short: only what was found. Returns the exit status 0."""
    from dynamics.heads.named import unnamed
    from dynamics.heads.verdicts import judge
    from dynamics.observed.task import read_run
    from dynamics.training.batches import heldout_rows
    from dynamics.training.evaluation import evaluate
    from dynamics.training.loop import choose_device

    run = read_run(folder, choose_device(device))
    config = run.model.config
    scored = evaluate(run.model, heldout_rows(run.training, config.vocab))
    state = "" if run.finished else f"not finished, step {run.step} of {run.training.steps}: "
    accuracy = f"{state}held-out accuracy {score(scored)}"
    rows = heldout_rows(run.training, config.vocab, min(ROWS, scored.rows))
    if reason := unnamed(config, rows):
        print(f"no heads are named: {reason}\n{accuracy}")
        return 0
    found = judge(run.model, rows, run.training.task)
    print(f"{_answer(found)}\n{accuracy}; a random token of the row is right in {100 * found.guess:.1f} %")
    if not short:
        print(page(_attention(found)))
        print("\n".join(_coordinates(found, config)))
    return 0


def _answer(found) -> str:
    """What was found, in one line."""
    attending = [head for head in found.heads if head.report.attends]
    working = [head for head in attending if head.needed]
    names = ", ".join(map(_name, working))
    if len(working) == 1:
        return f"one induction head: {names} (layer.head)"
    if working:
        return f"{len(working)} heads share the induction: {names} (layer.head)"
    if not attending:
        return "no induction head: none puts more than half of its attention on the successor"
    if not found.answers:
        return "no induction head: the model answers no better than a random token of the row"
    return f"no induction head: {len(attending)} attend to the successor, and the model does not need them"


def _name(head) -> str:
    return f"{head.report.layer}.{head.report.head}"


def _attention(found) -> list[str]:
    """A line a head: attention, the model without it, and its verdict."""
    head = ("head", "on x_i+1", "on x_i", "on itself", "loss without", "right", "loss alone", "right")
    rows = []
    for one in found.heads:
        shares = f"{one.report.successor:.3f}", f"{one.repeated:.3f}", f"{one.last:.3f}"
        rows.append((_name(one), *shares, *_scored(one.without), *_scored(one.only)))
    even = ("even", *(f"{found.even:.3f}",) * 3, *_scored(found.score), "", "")
    lines = aligned([head, *rows, even])
    verdicts = ["verdict", *(one.verdict for one in found.heads), "the whole model"]
    lines = [f"{line}  {verdict}" for line, verdict in zip(lines, verdicts, strict=True)]
    if any(one.report.attends for one in found.heads):
        loss, right = _scored(found.without_all)
        lines.append(f"without all heads that attend to x_i+1: loss {loss}, right {right}")
    return lines


def _scored(one) -> tuple[str, str]:
    return ("-", "-") if one is None else (f"{one.loss.mean():.3f}", f"{100 * one.right.mean():.1f} %")


def _coordinates(found, config) -> list[str]:
    """A line a head: coefficients, gains and their products; then the theorem beside the model."""
    from dynamics.heads.theorem import GAPS, outside

    reasons = outside(config)
    if found.stages is None:
        return [wrapped(f"no coordinates: outside the theorem ({', '.join(reasons) or 'another task'})")]
    pairs = "alpha1", "alpha2", "key gain", "beta1", "beta2", "value gain"
    head = ("head", *pairs, "x alpha1", "x alpha2", "x beta1", "x beta2", "theorem", "read out")
    rows = []
    for one in found.heads:
        numbers = *one.report.alpha, one.gain[0], *one.report.beta, one.gain[1], *one.theta
        loss = "outside" if reasons else f"{one.loss:.3g}"
        read = f"{one.read_out.mean:+.1f} ± {one.read_out.std:.1f}"
        rows.append((_name(one), *(f"{value:+.2f}" for value in numbers), loss, read))
    losses = list(found.stages.values())
    gaps = [before - after for before, after in pairwise([*losses, found.together])]
    named = ", ".join(f"{name} {gap:+.3g}" for name, gap in zip(GAPS, gaps, strict=True))
    told = f"outside the theorem: {', '.join(reasons)}; its loss" if reasons else "the theorem's loss"
    beside = f"{told} of all heads is {found.together:.3g}, the model's {losses[0]:.3g}: {named}"
    return ["", *aligned([head, *rows]), wrapped(beside)]


def score(heldout) -> str:
    """Accuracy in per cent and in answers."""
    return f"{100 * heldout.accuracy:.2f} % ({heldout.correct} of {heldout.rows})"
