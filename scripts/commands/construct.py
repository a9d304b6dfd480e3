"""Verify a constructive theorem for parameters of your own: the error beside the bound, and the closest input.

THEOREM is def3.1 (the induction heads machine IH), thm3.2 or appA (two layers with ALiBi), thm3.3 or appB (one layer of
KV shifting), k-only or v-only (one layer that shifts keys alone, or values alone). The head is built in theory and in
torch; both run on random inputs and on patterns that come close to the bound. Matrices may be your own.
"""

from .cli import Parser, command_parser, finite, output_file, page, whole, write_json

TITLES = {
    "def3.1": "Definition 3.1",
    "thm3.2": "Theorem 3.2",
    "thm3.3": "Theorem 3.3, on the places 2..L-1,",
    "k-only": "The claim on K-only heads",
    "v-only": "The claim on V-only heads",
}
ALIASES = {"appA": "thm3.2", "appB": "thm3.3"}


def parser() -> Parser:
    """Return the command line; nothing heavy is imported for it."""
    p = command_parser("construct", __doc__)
    p.add_argument("theorem", metavar="THEOREM", choices=[*TITLES, *ALIASES], help="see above")
    p.add_argument("--length", type=whole(3, 1024), metavar="L", help="tokens (default 8; v-only has 6)")
    p.add_argument("--dim", type=whole(1, 1024), default=6, metavar="D", help="channels of a token (default 6)")
    p.add_argument("--sigma", type=finite, default=0.5, metavar="X", help="divisor of the scores, > 0 (default 0.5)")
    slope = "m of ALiBi, >= 0 (default: drawn for random inputs, placed where the error is largest for patterns)"
    p.add_argument("--slope", type=finite, metavar="M", help=slope)
    p.add_argument("--copy-slope", type=finite, metavar="P", help="p of layer 1 of thm3.2, >= 0 (default 8)")
    matrices = (
        "w_q, w_k (K, W), w_v (V, W) and w_o (D, V), tokens as columns (y = W x). W is D; for thm3.2 it is 2 D: its "
        "second layer reads (x, y) and holds 1/sigma (default: those of the paper)"
    )
    p.add_argument("--matrices", metavar="FILE.npz", help=matrices)
    p.add_argument("--inputs", type=whole(1, 100_000), default=1000, metavar="N", help="random ones (default 1000)")
    p.add_argument("--seed", type=whole(0), default=0, metavar="N", help="of the random inputs (default 0)")
    p.add_argument("--json", metavar="FILE", help="write all numbers there, with the closest inputs in full")
    return p


def main(argv: list[str] | None = None) -> int:
    """Run the command line; return its exit code."""
    given = vars(parser().parse_args(argv))
    path, _ = given.pop("json"), given.pop("quiet")
    target = None if path is None else output_file(path)
    given["theorem"] = ALIASES.get(given["theorem"], given["theorem"])
    if given["matrices"] is not None:
        from dynamics.files.arrays import read_arrays

        given["matrices"] = read_arrays(given["matrices"])
    from dynamics.model.made.constructed import Setting, verify

    rows, broken = verify(Setting(**given))
    holds = not broken and all(row.holds for row in rows)
    lines = text(TITLES[given["theorem"]], rows, broken, "holds here" if holds else "is not confirmed")
    if target is not None:
        del given["matrices"]
        answer = {"holds": holds, "broken": broken, "setting": given, "rows": [row._asdict() for row in rows]}
        write_json(target, answer)
        lines.append(f"wrote {target}")
    print(page(lines))
    return 0 if holds else 1


def _fault(row) -> str:
    return ": exceeded" if row.error > row.bound + row.rounding else ": theory and torch differ"


def text(title: str, rows, broken: list[str], verdict: str) -> list[str]:
    """The answer in one line, a line a kind of input, and the input that comes closest."""
    top = max(rows, key=lambda row: (not row.holds, row.bound == 0, row.share))
    of_it = f"{top.share:.4f} of it" if top.share else f"rounding can reach {top.rounding:.1e}"
    answer = f"{title} {verdict} ({top.inputs}): error {top.error:.3g}, bound {top.bound:.3g} ({of_it})"
    lines = ["; ".join([answer, *broken])]
    lines.append(f"  {'inputs':30}{'error':>12}{'bound':>12}{'share':>10}  theory - torch  claim")
    for row in rows:
        share = f"{row.share:.4f}" if row.share else "-"
        lines.append(
            f"  {row.inputs:30}{row.error:>12.3e}{row.bound:>12.3e}{share:>10}{row.apart:>16.1e}  "
            f"{row.claim}{'' if row.holds else _fault(row)}"
        )
    closest = max(rows, key=lambda row: row.share)
    last = " ".join(f"{token[0]:.4g}" for token in closest.x[-12:])
    return [*lines, f"closest: {closest.inputs}, m = {closest.slope!r}, first channel of the last tokens {last}"]
