"""Train every member of the family of shifts at two widths; docs/family.md compares the results with the theorem."""

from ..cli import Parser, bar, command_parser, hashed_file


def parser() -> Parser:
    """Return the command line; nothing heavy is imported for it."""
    line = command_parser("study family", __doc__)
    line.add_argument("--out", default="out/family.json", metavar="FILE", help="the results, one file")
    return line


def main(argv: list[str] | None = None) -> int:
    """Run the command line; return its exit code."""
    options = parser().parse_args(argv)
    out = hashed_file(options.out)
    import torch

    from dynamics.scalar.family import plan, run_family
    from dynamics.scalar.family_record import write_family

    torch.set_num_threads(1)
    cells, further = plan()
    with bar(options, total=len(cells) + len(further)) as shown:
        study = run_family(cells, further, shown.update)
    write_family(out, study)
    print(out)
    return 0
