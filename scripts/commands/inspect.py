"""The heads of a model trained here: what each attends to, its coefficients, and which are induction heads.

The coefficients are in the gauge of the largest one; the head's gains and signs are not in them.
"""

from pathlib import Path

from .cli import Parser, command_parser


def parser() -> Parser:
    p = command_parser("inspect", __doc__)
    p.add_argument("folder", metavar="FOLDER", help="a model that `train` has written, or one that ships")
    p.add_argument("--device", default="auto", help="auto, cpu or cuda[:N]")
    return p


def main(argv: list[str] | None = None) -> int:
    args = parser().parse_args(argv)
    return print_heads(args.folder, args.device)


def print_heads(folder: str | Path, device: str) -> int:
    """Print a line a head, and how many are induction heads; returns the exit status 0."""
    from dynamics.heads.named import inspect
    from dynamics.model.config import PLACED
    from dynamics.training.checkpoint import MANIFEST, load
    from dynamics.training.evaluation import evaluate
    from dynamics.training.folder import heldout_of
    from dynamics.training.loop import choose_device

    found = load(folder, choose_device(device))
    try:
        rows = heldout_of(found)
    except ValueError as error:
        raise ValueError(f"{Path(folder) / MANIFEST}: {error}") from None
    print(f"held-out accuracy {score(evaluate(found.model, rows))}")
    if (rows.position < 0).any():
        print("no heads are named: on this task the answer does not always stand in the row")
        return 0
    if (place := found.model.config.place) in PLACED:
        print(f"no heads are named: the attention of a model whose shift is placed at {place!r} is not shown")
        return 0
    reports = inspect(found.model, rows)
    print("layer head  on successor  alpha1  alpha2   beta1   beta2  (gauge fixed)  place on the landscape")
    for report in reports:
        print(_row(report))
    print(_verdict([report for report in reports if report.is_induction]))
    return 0


def _row(report) -> str:
    pairs = [*(*report.alpha_fixed, 0.0)[:2], *(*report.beta_fixed, 0.0)[:2]]
    place = "off the plane" if report.place is None else f"({report.place[0]:+.3f}, {report.place[1]:+.3f})"
    numbers = " ".join(f"{value:>+7.3f}" for value in pairs)
    name = "induction head" if report.is_induction else ""
    return f"{report.layer:>5} {report.head:>4} {report.successor:>13.3f} {numbers}  {name:<14} {place}"


def _verdict(found) -> str:
    if not found:
        return "no induction head (none puts more than 0.5 of its attention on the successor)"
    shown = sum(report.key_looks_back and report.value_stays for report in found)
    return f"{len(found)} induction head(s); |alpha2| > |alpha1| and |beta1| > |beta2| in {shown} of them"


def score(heldout) -> str:
    """Accuracy in per cent and in answers."""
    return f"{100 * heldout.accuracy:.2f} % ({heldout.correct} of {heldout.rows})"
