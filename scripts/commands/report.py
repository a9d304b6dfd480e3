"""Write one self-contained HTML page: every claim with its formula, decision, evidence, witness and correction."""

import base64
import json
import re
from fractions import Fraction
from pathlib import Path

from ..pages import docket
from . import cli


def parser() -> cli.Parser:
    p = cli.command_parser("report", __doc__)
    p.add_argument("--from", dest="source", default="out/verify.json", metavar="FILE", help="JSON that verify wrote")
    p.add_argument("--out", default="out/report.html", metavar="FILE", help="page to write (default out/report.html)")
    p.add_argument("--figures", default="out", metavar="DIR", help="folder with the figures' PNG files (default out)")
    p.add_argument("--training", default="out/train", metavar="DIR", help="folder that train wrote (default out/train)")
    return p


def main(argv: list[str] | None = None) -> int:
    args = parser().parse_args(argv)
    target = cli.output_file(args.out)
    report = read_report(Path(args.source))
    page = render(report, figures(Path(args.figures)), training(Path(args.training)))

    from dynamics.files.atomic import atomic_write_text

    atomic_write_text(target, page)
    print(f"wrote {target}: {report['summary']['claims']} claims, {len(page) // 1024} KiB")
    return 0


def read_report(path: Path) -> dict:
    """The JSON of verify. Raises ValueError where it is missing, broken or of another shape."""
    if not path.is_file():
        raise ValueError(f"no results at {path}: run `{cli.program('verify')} --json {path}` first")
    try:
        report = json.loads(path.read_text(encoding="utf-8"))
        return {"claims": list(report["claims"]), "summary": dict(report["summary"])}
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{path} is not the JSON that verify writes: {error}") from error


def figures(folder: Path) -> list[dict[str, str]]:
    """Every fig_*.png below the folder, as data URLs."""
    found = []
    for path in sorted(folder.rglob("fig_*.png")):
        data = base64.b64encode(path.read_bytes()).decode("ascii")
        caption = CAPTIONS.get(path.stem, path.stem)
        found.append({"name": path.stem, "url": f"data:image/png;base64,{data}", "caption": caption})
    return found


CAPTIONS = {
    "fig_training": "The model that was trained, on the landscape of Theorem 3.4. (a) The colour is the theorem's "
    "loss of one head, in nats, on rows of T tokens. Across: how strongly the head attends to the token after the "
    "earlier copy of the last one (key gain times alpha2). Up: how much it raises the token that it attends to (value "
    "gain times beta1). The theorem sets both gains to 1; a trained head brings its own, and leaves the unit box. "
    "Each line is a head, from the start to the end of the training. A mark has the colour of this head's own loss, "
    "at all four of its coordinates. Where it differs from the colour beneath it, the head is off the plane alpha1 = "
    "beta2 = 0, and the map is not its loss; far off the plane the marks are hollow. (b) The measured loss over the "
    "vocabulary and among the tokens of the row, and what the theorem predicts from the coordinates of all heads, or "
    "of the best one. (c) What the measured loss at the end has over the predicted one. Other tokens: all of the "
    "vocabulary competes, not only the row. MLP: the layer behind the heads. Final norm: the state is divided by its "
    "size. Own embedding: the last token's own embedding votes too. Token table: the products of the tokens' "
    "embeddings through a head are not those of an identity, which the theorem takes them for.",
    "fig_landscape": "The paper's Figure 2: streamlines of gradient descent and contours of the loss on the slice "
    "alpha2 = 1 - alpha1, beta2 = 1 - beta1. Top: the exact loss. Middle: Eq. 10 as printed. Bottom: what the "
    "printed listing draws once it runs. The induction head sits at (0, 1).",
}


def training(folder: Path) -> list[dict]:
    """The manifests that train wrote, one a model."""
    rows = []
    for path in sorted(folder.rglob("manifest.json")):
        manifest = json.loads(path.read_text(encoding="utf-8"))
        rows.append({"name": path.parent.name, "metrics": manifest.get("metrics", {}), "seed": manifest.get("seed")})
    return rows


# What the note of a claim says, by its verdict.
NOTES = {"holds_if": "Needed", "typo": "Right form", "false": "True", "unsettled": "To settle it", "holds": "Note",
         "refuted": "Repair", "open": "Open"}
LONG_FRACTION = re.compile(r"(?=.{6})-?\d+/\d+")


def note_title(row) -> str:
    """What the note of a claim is: the row of the table that gives its verdict, or by hand."""
    return NOTES[row.verdict] if row.case is None else "Ruling"


def math(formula: str) -> str:
    """MathML of a LaTeX formula, which browsers draw without a script."""
    if not formula:
        return ""
    from latex2mathml.converter import convert

    return convert(formula, display="block")


def show(value) -> str:
    """A number or a point as a reader wants it: six digits, exact fractions as they are and, if long, in digits too."""
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, dict):
        return ", ".join(f"{name} = {show(item)}" for name, item in value.items())
    if isinstance(value, list):
        return "(" + ", ".join(show(item) for item in value) + ")"
    if isinstance(value, str) and LONG_FRACTION.fullmatch(value):
        return f"{value} \u2248 {float(Fraction(value)):.6g}"
    return str(value)


def place(point: dict) -> str:
    """A point of the core as a reader wants it."""
    from proofs_check.core.printing import coordinate

    return ", ".join(f"{name} = {coordinate(value)}" for name, value in point.items()) or "the statement itself"


def fails(at: dict) -> str:
    """Where and in which part a statement fails, and what has no value there."""
    return f"fails at {place(at['point'])} ({at['part']})" + (f": {at['lacks']}" if at["lacks"] else "")


def failing(row) -> str:
    """Where the core refutes a claim's statement, and both sides there, or what has no value."""
    from proofs_check.ledger.failure import sides

    at = row.core["at"]
    found = sides(row.formal, at)
    told = f": {at['lacks']}" if at["lacks"] else f", left side {found[0]}, right side {found[1]}" if found else ""
    return f"It fails at {place(at['point'])}{told}"


def render(report: dict, pictures: list[dict], models: list[dict]) -> str:
    """The page as one string."""
    from proofs_check.ledger.row import from_json

    from ..pages.site.pages import HERE, environment
    from ..pages.site.view import views

    claims = list(map(from_json, report["claims"]))
    theirs = [row for row in claims if not row.is_correction]
    decided = [row for row in theirs if row.verdict != "unsettled"]
    return environment(set()).get_template("report.html.j2").render(
        title="This run", alone=True, style=(HERE / "style.css").read_text("utf-8"), summary=report["summary"],
        groups=views(claims, {}, paged=False), papers=docket.titles(claims), counts=docket.table(docket.counts(claims)),
        pictures=pictures, models=models, decided=len(decided), unsettled=len(theirs) - len(decided),
        proved=sum(row.strength == "proved" for row in decided),
    )  # fmt: skip
