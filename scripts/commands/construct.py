"""Verify a constructive theorem for parameters of your own: the error beside the bound, and the closest input.

THEOREM is def3.1 (the induction heads machine IH), thm3.2 or appA (two layers with ALiBi), thm3.3 or appB (one layer of
KV shifting), k-only or v-only (one layer that shifts keys alone, or values alone). The head is built in theory and in
torch; both run on random inputs and on patterns that come close to the bound. Matrices may be your own.
"""

import argparse
from typing import TYPE_CHECKING

from .cli import Parser, finite, output_file, page, program, whole

if TYPE_CHECKING:
    from dynamics.model.made.constructed import Row, Verified

TITLES = {
    "def3.1": "Definition 3.1",
    "thm3.2": "Theorem 3.2",
    "thm3.3": "Theorem 3.3",
    "k-only": "The claim on K-only heads",
    "v-only": "The claim on V-only heads",
}
ALIASES = {"appA": "thm3.2", "appB": "thm3.3"}
LARGEST = 2**28  # bytes of a file of matrices


def parser() -> Parser:
    """Return the command line; nothing heavy is imported for it."""
    name = program("construct")
    epilog = (
        f"examples:\n  {name} thm3.2 --length 12 --dim 4 --sigma 0.5 --copy-slope 10\n"
        f"  {name} thm3.3 --dim 8 --sigma 0.1 --matrices head.npz\n"
        f"  {name} k-only --length 32 --dim 16 --sigma 0.1 --json k_only.json\n\n"
        "exit status: 0 every bound holds, 1 one does not or the matrices break a hypothesis, "
        "2 bad input (one line, nothing written), 130 interrupted"
    )
    p = Parser(prog=name, description=__doc__, epilog=epilog, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("theorem", metavar="THEOREM", choices=[*TITLES, *ALIASES], help=", ".join([*TITLES, *ALIASES]))
    p.add_argument("--length", type=whole(3, 1024), metavar="L", help="tokens (default 8; v-only: 6 and no other)")
    p.add_argument("--dim", type=whole(1, 1024), metavar="D", help="channels of a token (default 4; v-only: 5)")
    p.add_argument("--sigma", type=finite, default=0.5, metavar="X", help="divisor of the scores, > 0 (default 0.5)")
    slope = "m of ALiBi, >= 0 (default: all; drawn for random tokens, placed where the error peaks for patterns)"
    p.add_argument("--slope", type=finite, metavar="M", help=slope)
    p.add_argument("--copy-slope", type=finite, metavar="P", help="p of layer 1 of thm3.2, >= 0 (default 8)")
    matrices = (
        "w_q, w_k (any, W), w_v (V, W) and w_o (D, V) with y = W x; W is D, for thm3.2 2 D: its second layer, which "
        "reads (x, y) and holds 1/sigma in its scores (default: those of the paper)"
    )
    p.add_argument("--matrices", metavar="FILE.npz", help=matrices)
    p.add_argument("--inputs", type=whole(1, 100_000), default=1000, metavar="N", help="random ones (default 1000)")
    p.add_argument("--seed", type=whole(0), default=0, metavar="N", help="of the random inputs (default 0)")
    p.add_argument("--json", metavar="FILE", help="write all numbers there, with the closest inputs in full")
    return p


def main(argv: list[str] | None = None) -> int:
    """Run the command line; return its exit code."""
    args = parser().parse_args(argv)
    target = output_file(args.json) if args.json else None
    given = None if args.matrices is None else read_matrices(args.matrices)
    import torch

    from dynamics.model.made.constructed import Setting, verify

    torch.set_num_threads(1)
    theorem = ALIASES.get(args.theorem, args.theorem)
    numbers = (args.length, args.dim, args.sigma, args.slope, args.copy_slope, given, args.inputs, args.seed)
    found = verify(Setting(theorem, *numbers))
    if target is not None:
        from dynamics.files.atomic import atomic_write_text

        atomic_write_text(target, document(found))
    print(page([*text(found), *([] if target is None else [f"wrote {target}"])]))
    return 0 if found.holds else 1


def read_matrices(path: str):
    """The arrays of an .npz file. Raises OSError; ValueError for a file of anything else, too large, or pickled."""
    import io

    import numpy as np

    from dynamics.files.bounded import read_bytes

    data = read_bytes(path, LARGEST)
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as file:
            if sum(entry.file_size for entry in file.zip.infolist()) > LARGEST:
                raise ValueError(f"more than {LARGEST} bytes")
            return {name: file[name] for name in file.files}
    except Exception as error:  # numpy, zipfile and zlib have errors of their own
        raise ValueError(f"{path}: not an .npz file of numbers ({' '.join(str(error).split())})") from None


def text(found: "Verified") -> list[str]:
    """The answer in one line, a line a kind of input, and the input that comes closest."""
    s = found.setting
    closest = max(found.rows, key=lambda row: (_share(row), row.error - row.bound))
    lines = [_answer(found, closest), *(f"  broken hypothesis: {told}" for told in found.broken)]
    slope = "every slope m" if s.slope is None else f"m {s.slope:g}"
    if s.theorem in ("k-only", "v-only"):
        slope = "no slope"
    copied = f", p {s.copy_slope:g}" if s.theorem == "thm3.2" else ""
    lines.append(f"L {s.length}, d {s.dim}, sigma {s.sigma:g}, {slope}{copied}, seed {s.seed}")
    lines.append(f"  {'inputs':42}{'number':>7}{'error':>11}{'bound':>11}{'share':>9}  theory - torch  claim")
    for row in found.rows:
        share = f"{_share(row):9.4f}" if row.bound > row.rounding else f"{'-':>9}"
        numbers = f"{row.count:>7}{row.error:>11.3e}{row.bound:>11.3e}{share}{row.apart:>16.1e}"
        lines.append(f"  {row.inputs:42}{numbers}  {row.claim}{'' if row.holds else '  EXCEEDED'}")
    if "x" in closest.at:
        last = " ".join(f"{value:.4g}" for value in closest.at["x"][-12:, 0])
        lines.append(f"closest: {closest.inputs}, m {float(closest.at['slope'])!r}, first channel of the last tokens {last}")
    return lines


def _share(row: "Row") -> float:
    """Error over bound; 0 where the bound is less than rounding, and the error says nothing of it."""
    return row.error / row.bound if row.bound > row.rounding else 0.0


def _answer(found: "Verified", row: "Row") -> str:
    title = TITLES[found.setting.theorem]
    if not found.holds:
        row = max(found.rows, key=lambda each: each.error - each.bound)
    told = f"{row.measure} {row.error:.3g}, bound {row.bound:.3g}"
    told += f" ({_share(row):.4g} of it)" if _share(row) else ""
    if found.broken:
        return f"{title} is not confirmed: {found.broken[0]}; {told}"
    if not found.holds:
        return f"{title} fails here: {told} (theory and torch differ by {row.apart:.1e})"
    if 0 < row.bound < row.rounding:
        told += f", less than rounding can be, {row.rounding:.1e}"
    if found.setting.theorem == "thm3.3":
        equal = max(each.error for each in found.rows if each.bound == 0)
        told = f"on the places 2..L-1 the head differs from IH by {equal:.1e}, by rounding; causal mask: {told}"
    return f"{title} holds here: {told}"


def document(found: "Verified") -> str:
    """All numbers as JSON."""
    import json

    own = {name: value for name, value in found.setting._asdict().items() if name != "matrices"}
    rows = [row._asdict() | {"at": {name: value.tolist() for name, value in row.at.items()}} for row in found.rows]
    whole_answer = {"holds": found.holds, "broken": found.broken, "setting": own, "rows": rows}
    return json.dumps(whole_answer, indent=1, allow_nan=False) + "\n"
