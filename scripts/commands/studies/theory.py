"""Train one-layer models from several seeds and hold the loss that Theorem 3.4 predicts against the measured one.

At some 50 steps the theorem's loss is taken at the coordinates that the model has there. Settings in which the theorem
should hold stand beside settings in which it should fail, and the next seed's prediction beside the model's own.
"""

from ..cli import Parser, bar, command_parser, output_file, whole


def parser() -> Parser:
    """Return the command line; nothing heavy is imported for it."""
    line = command_parser("study theory", __doc__)
    line.add_argument("--out", default="out/theory-study.json", metavar="FILE", help="the results, one file")
    line.add_argument("--quick", action="store_true", help="small vocabularies, a fifth of the steps: a minute")
    line.add_argument("--seeds", type=whole(2, 100), default=8, help="seeds of each setting (default 8)")
    return line


def main(argv: list[str] | None = None) -> int:
    """Run the command line; return its exit code."""
    options = parser().parse_args(argv)
    out = output_file(options.out)
    output_file(f"{out}.sha256")
    import torch

    from dynamics.comparison.theorem_record import write_theorem
    from dynamics.comparison.theorem_runs import plan, run_theorem, trainings

    torch.set_num_threads(1)
    setups = plan(options.quick, options.seeds)
    with bar(options, total=trainings(setups, options.seeds), desc="trainings") as shown:
        study = run_theorem(setups, options.seeds, shown.update)
    write_theorem(out, study)
    print(out)
    return 0
