"""Write one self-contained HTML page of a run: what failed, pictures, findings, a line a paper, all rows to search.

The pictures are fig_landscape.png and fig_training.png of one folder. What is missing there is left out, and the page
says how to make it.
"""

import base64
import html
import io
import json
import re
from fractions import Fraction
from pathlib import Path

from . import cli


def parser() -> cli.Parser:
    p = cli.command_parser("report", __doc__)
    p.add_argument("--from", dest="source", default="out/verify.json", metavar="FILE", help="JSON that verify wrote")
    p.add_argument("--out", default="out/report.html", metavar="FILE", help="page to write (default out/report.html)")
    p.add_argument("--figures", default="out", metavar="DIR", help="folder with the two pictures (default out)")
    p.add_argument("--training", default="out/train", metavar="DIR", help="folder that train wrote (default out/train)")
    built = "out/construct.json"
    p.add_argument("--construction", default=built, metavar="FILE", help=f"JSON of construct (default {built})")
    p.add_argument("--before", metavar="FILE", help="JSON of an earlier verify, if there is one: what changed since")
    return p


def main(argv: list[str] | None = None) -> int:
    args = parser().parse_args(argv)
    target = cli.output_file(args.out)
    run = read(Path(args.source))
    before = _json(Path(args.before), "claims")["claims"] if args.before and Path(args.before).is_file() else None

    from dynamics.files.atomic import atomic_write_text

    from ..pages.site.run import page

    built = construction(Path(args.construction))
    text = page(run, before, pictures(Path(args.figures)), training(Path(args.training)), built)
    atomic_write_text(target, text)
    print(f"wrote {target}: {len(run['claims'])} claims, {len(text) // 1024} KiB")
    return 0


def read(path: Path) -> dict:
    """The JSON of verify, its claims as rows. Raises ValueError where it is missing, broken or of another shape."""
    if not path.is_file():
        raise ValueError(f"no results at {path}: run `{cli.program('verify')} --json {path}` first")
    from proofs_check.ledger.row import from_json

    found = _json(path, "claims", "summary")
    try:
        return {"claims": list(map(from_json, found["claims"])), "summary": dict(found["summary"])}
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{path} is not the JSON that verify writes: {error}") from error


def _json(path: Path, *names: str) -> dict:
    """These parts of a JSON object. Raises ValueError where one is missing."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        return {name: found[name] for name in names}
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{path} is not the JSON that its command writes: {error}") from error


def pictures(folder: Path) -> dict[str, str]:
    """The two pictures as data URLs, by name, as far as they lie in the folder itself."""
    paths = (folder / f"{name}.png" for name in ("fig_landscape", "fig_training"))
    return {path.stem: f"data:image/webp;base64,{_small(path)}" for path in paths if path.is_file()}


def _small(path: Path) -> str:
    """The picture in 256 colours, at a fifth of its size. Raises ValueError for a file that holds none."""
    from PIL import Image

    try:
        picture, file = Image.open(path).convert("RGB"), io.BytesIO()
    except OSError as error:
        raise ValueError(f"{path} is no picture: {error}") from error
    few = picture.quantize(256, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
    few.convert("RGB").save(file, "WEBP", lossless=True)
    return base64.b64encode(file.getvalue()).decode("ascii")


def training(folder: Path) -> list[dict]:
    """The manifests that train wrote, one a model."""
    rows = []
    for path in sorted(folder.rglob("manifest.json")):
        manifest = json.loads(path.read_text(encoding="utf-8"))
        rows.append({"name": path.parent.name, "seed": manifest.get("seed"), **manifest.get("metrics", {})})
    return rows


def construction(path: Path) -> dict | None:
    """The JSON of construct, or None where there is none. Raises ValueError where it is broken."""
    return _json(path, "holds", "broken", "setting", "rows") if path.is_file() else None


# What the note of a claim says, by its verdict.
NOTES = {"holds_if": "Needed", "typo": "Right form", "false": "True", "unsettled": "To settle it", "holds": "Note",
         "refuted": "Repair", "open": "Open"}
ENTITY = re.compile(r"&#x\w+;")
LETTERS = re.compile(r'(?:<mi mathvariant="normal">[^<]</mi>){2,}')  # of one name
ALONE = re.compile(r"<mrow>(<(m\w)>[^<]*</\2>)</mrow>")
LONG_FRACTION = re.compile(r"(?=.{6})-?\d+/\d+")


def note_title(row) -> str:
    """What the note of a claim is: the row of the table that gives its verdict, or by hand."""
    return NOTES[row.verdict] if row.case is None else "Ruling"


def math(formula: str) -> str:
    """MathML of a LaTeX formula, which browsers draw without a script: short, and a name of letters is one name."""
    if not formula:
        return ""
    from latex2mathml.converter import convert

    made = convert(formula, display="block").replace(' xmlns="http://www.w3.org/1998/Math/MathML"', "")
    plain = ENTITY.sub(lambda match: html.escape(html.unescape(match[0]), quote=False), made)
    named = LETTERS.sub(lambda match: f"<mi>{re.sub('<[^>]*>', '', match[0])}</mi>", plain)
    return ALONE.sub(r"\1", named)


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
    told = f": {at['lacks']}" if at["lacks"] else f": left side {found[0]}, right side {found[1]}" if found else ""
    return f"It fails{' at ' + place(at['point']) if at['point'] else ''}{told}"
